import { valueAt } from '../../../../src/contract/index.ts';
import { isObject } from '../../../../src/platform/json.ts';

import type { Edit } from '../../../engine/mutants/combinators.ts';
import type { RequirementId } from '../../../engine/requirement.ts';
import {
  mutantsOf,
  type ProxyResponse,
  type ProxyRequest,
  type Mutant,
  type TransformFactory,
} from '../../../engine/mutants/mutant.ts';
import { relayMedia, type MediaHandlers } from '../../../engine/mutants/voice-relay.ts';
import type { CallEnds, CallHandlers, VoiceTransformFactory } from '../../../engine/mutants/call-transform.ts';

/** A message of a call, as JSON. */
export type Message = Record<string, unknown>;

/** Passes HTTP on as it is. */
export const passThrough: TransformFactory = () => (asked, forward) => forward(asked);

const mutant = mutantsOf('voice');

/** A mutant of calls, which leaves all else as it is. */
export const voiceMutant = (
  name: string,
  breaks: string,
  kills: RequirementId | readonly RequirementId[],
  voice: VoiceTransformFactory,
  more: Partial<Mutant> = {},
): Mutant => mutant(name, breaks, kills, passThrough, { voice, ...more });

/** Edits of messages are made of no request. */
const NOBODY: ProxyRequest = {
  endpoint: 'voice',
  method: 'GET',
  path: '/voice',
  headers: {},
  body: '',
  json: undefined,
  connection: {},
};

/** A message as JSON; undefined where it is none. */
export function messageIn(text: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Changes a call, each in a state of its own. */
export const handleCalls =
  (call: (ends: CallEnds) => CallHandlers): VoiceTransformFactory =>
  () => ({ handleCall });

/** Every message, whatever its type. */
export const ANY = '*';

/** Puts messages in the place of those of a type, or of any, that the sandbox says: none, one, many. */
export function replaceMessages(
  type: string,
  change: (message: Message, ends: CallEnds) => readonly (Message | string)[],
): VoiceTransformFactory {
  return handleCalls((ends) => {
    const ids = new TrueIds();
    return {
      fromSandbox(text) {
        const message = messageIn(text);
        if (message?.['type'] === 'call_ready') ids.learn(message);
        if (!message || (type !== ANY && message['type'] !== type)) {
          ends.toKit(text);
          return;
        }
        for (const one of change(message, ends)) {
          ends.toKit(typeof one === 'string' ? one : JSON.stringify(one));
        }
      },
      fromKit: (text, isBinary) => ids.pass(text, isBinary, ends),
    };
  });
}

/**
 * The ids by which the sandbox behind knows a call. What it is told has them whatever the kit was made
 * to believe, so that one broken id breaks nothing else.
 */
class TrueIds {
  #ids: Message = {};

  learn({ call_id, session_id }: Message): void {
    this.#ids = {
      ...(call_id !== undefined && { call_id }),
      ...(session_id !== undefined && { session_id }),
    };
  }

  pass(text: string, isBinary: boolean, ends: CallEnds): void {
    const message = messageIn(text);
    if (isBinary || message?.['type'] !== 'webrtc_answer') {
      ends.toSandbox(text);
      return;
    }
    const { call_id: _call, session_id: _session, ...rest } = message;
    ends.toSandbox(JSON.stringify({ ...rest, ...this.#ids }));
  }
}

/** Edits the messages of a type. */
export const editMessages = (type: string, ...all: Edit[]): VoiceTransformFactory =>
  replaceMessages(type, (message) => {
    const edited = structuredClone(message);
    for (const edit of all) edit(edited, NOBODY);
    return [edited];
  });

/** Writes mutants that edit the messages of a type. */
export const createMessageMutants =
  (type: string) =>
  (name: string, breaks: string, kills: RequirementId, ...all: Edit[]): Mutant =>
    voiceMutant(name, breaks, kills, editMessages(type, ...all));

/** Edits the description of every offer. */
export const editOffers = (change: (sdp: string) => string): VoiceTransformFactory =>
  replaceMessages('call_ready', (message) => {
    const sdp = valueAt(message, '/webrtc_offer/sdp');
    const changed = change(typeof sdp === 'string' ? sdp : '');
    return [{ ...message, webrtc_offer: { type: 'offer', sdp: changed } }];
  });

/** Takes lines out of every offer. */
export const removeOfferLines = (line: RegExp): VoiceTransformFactory =>
  editOffers((sdp) => sdp.replace(new RegExp(`^${line.source}.*\\r\\n`, 'gim'), ''));

/** Answers some messages of the kit itself. */
export function interceptMessages(
  when: (message: Message, text: string) => boolean,
  answer: (ends: CallEnds) => void,
): VoiceTransformFactory {
  return handleCalls((ends) => ({
    fromKit(text) {
      if (when(messageIn(text) ?? {}, text)) answer(ends);
      else ends.toSandbox(text);
    },
  }));
}

/** Whether a call is asked for with a codec that need not be taken. */
export function requestsOtherCodec(message: Message): boolean {
  const codec =
    valueAt(message, '/audio_config/codec') ?? valueAt(message, '/metadata/audio_config/codec');
  return isStart(message) && codec !== undefined && codec !== 'opus';
}

/** Answers a second `start_call` of a call in ways of its own, about which the specification is silent. */
export const answerSecondStart = (): VoiceTransformFactory =>
  handleCalls((ends) => {
    let starts = 0;
    return {
      fromKit(text) {
        if (isStart(messageIn(text) ?? {})) starts += 1;
        if (starts < 2) ends.toSandbox(text);
        else {
          ends.toKit(JSON.stringify({ type: 'call_ready', call_id: 'other', session_id: 'other' }));
          ends.toKit(JSON.stringify({ type: 'call_ready', call_id: 'third' }));
          ends.toKit('restarted', true);
        }
      },
    };
  });

/** An error, and the end of the WebSocket. */
export function failCall(ends: CallEnds, code: string, closeCode: number): void {
  ends.toKit(JSON.stringify({ type: 'error', error: { code, message: 'No.', details: 'None.' } }));
  ends.closeKit(closeCode);
  ends.closeSandbox();
}

/** Changes the media of every call. */
export const changeMedia = (twist: () => MediaHandlers): VoiceTransformFactory => handleCalls(relayMedia(twist));

/** Refuses requests for a WebSocket. */
export const refuseUpgrade = (status: number): VoiceTransformFactory => {
  const answer: ProxyResponse = { status, headers: {}, body: '' };
  return () => ({ respond: ({ path }) => (path === '/voice' ? answer : undefined) });
};

/** Whether a message is a `start_call`, in its full form or not. */
export const isStart = ({ type }: Message): boolean => type === 'start_call';
export const isFullStart = (message: Message): boolean =>
  isStart(message) && valueAt(message, '/metadata/audio_config') !== undefined;
