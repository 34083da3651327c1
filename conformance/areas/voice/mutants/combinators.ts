import { resolvePointer } from '../../../../src/contract/index.ts';
import { parseMessage, type CallMessage } from '../../../../src/voice/call/index.ts';
import { passThrough, type Edit } from '../../../engine/mutants/combinators.ts';
import type { RequirementId } from '../../../engine/requirement.ts';
import {
  createMutantFactory,
  type ProxyResponse,
  type ProxyRequest,
  type Mutant,
} from '../../../engine/mutants/mutant.ts';
import { relayMedia, type MediaHandlers } from '../../../engine/mutants/voice-relay.ts';
import type {
  CallEnds,
  CallHandlers,
  VoiceTransformFactory,
} from '../../../engine/mutants/mutant.ts';

const mutant = createMutantFactory('voice');

/** Creates a mutant that changes WebSockets and calls but no HTTP responses. */
export const voiceMutant = (
  name: string,
  description: string,
  kills: RequirementId | readonly RequirementId[],
  voice: VoiceTransformFactory,
  more: Partial<Mutant> = {},
): Mutant => mutant(name, description, kills, passThrough, { voice, ...more });

/** The request that edits of call messages get: they don't depend on an HTTP request. */
const NO_REQUEST: ProxyRequest = {
  endpoint: 'voice',
  method: 'GET',
  path: '/voice',
  headers: {},
  body: '',
  json: undefined,
  connection: {},
};

/** Handles each call with its own state. */
export const handleCalls =
  (handleCall: (ends: CallEnds) => CallHandlers): VoiceTransformFactory =>
  () => ({ handleCall });

/** Matches messages of every type. */
export const ANY = '*';

/** Replaces each sandbox message of a type, or of `ANY` type, with zero or more messages. */
export function replaceMessages(
  type: string,
  replace: (message: CallMessage, ends: CallEnds) => readonly (CallMessage | string)[],
): VoiceTransformFactory {
  return handleCalls((ends) => {
    const originalIds = new OriginalIds();
    return {
      fromSandbox(text) {
        const message = parseMessage(text);
        if (message?.['type'] === 'call_ready') originalIds.remember(message);
        if (!message || (type !== ANY && message['type'] !== type)) {
          ends.toKit(text);
          return;
        }
        for (const replacement of replace(message, ends)) {
          ends.toKit(typeof replacement === 'string' ? replacement : JSON.stringify(replacement));
        }
      },
      fromKit: (text, isBinary) => ends.toSandbox(originalIds.restore(text, isBinary)),
    };
  });
}

/**
 * Restores the ids of the upstream sandbox in the SDP answer of the kit, so that a mutant that
 * changes an id breaks nothing else.
 */
class OriginalIds {
  #ids: CallMessage = {};

  remember({ call_id, session_id }: CallMessage): void {
    this.#ids = {
      ...(call_id !== undefined && { call_id }),
      ...(session_id !== undefined && { session_id }),
    };
  }

  restore(text: string, isBinary: boolean): string {
    const message = parseMessage(text);
    if (isBinary || message?.['type'] !== 'webrtc_answer') return text;
    const { call_id: _call, session_id: _session, ...rest } = message;
    return JSON.stringify({ ...rest, ...this.#ids });
  }
}

/** Edits the sandbox messages of a type. */
export const editMessages = (type: string, ...edits: Edit[]): VoiceTransformFactory =>
  replaceMessages(type, (message) => {
    const edited = structuredClone(message);
    for (const edit of edits) edit(edited, NO_REQUEST);
    return [edited];
  });

/** Returns a function that creates mutants that edit the sandbox messages of a type. */
export const createMessageMutants =
  (type: string) =>
  (name: string, description: string, kills: RequirementId, ...edits: Edit[]): Mutant =>
    voiceMutant(name, description, kills, editMessages(type, ...edits));

/** Edits the SDP of every offer. */
export const editOffers = (edit: (sdp: string) => string): VoiceTransformFactory =>
  replaceMessages('call_ready', (message) => {
    const sdp = resolvePointer(message, '/webrtc_offer/sdp');
    const edited = edit(typeof sdp === 'string' ? sdp : '');
    return [{ ...message, webrtc_offer: { type: 'offer', sdp: edited } }];
  });

/** Removes the lines that start with a pattern from the SDP of every offer. */
export const removeOfferLines = (start: RegExp): VoiceTransformFactory =>
  editOffers((sdp) => sdp.replace(new RegExp(`^${start.source}.*\\r\\n`, 'gim'), ''));

/** Responds to some messages of the kit instead of the sandbox. */
export function interceptMessages(
  isIntercepted: (message: CallMessage, text: string) => boolean,
  respond: (ends: CallEnds) => void,
): VoiceTransformFactory {
  return handleCalls((ends) => ({
    fromKit(text) {
      if (isIntercepted(parseMessage(text) ?? {}, text)) respond(ends);
      else ends.toSandbox(text);
    },
  }));
}

/** Returns whether a message is a `start_call` with a codec that a sandbox may refuse. */
export function requestsOtherCodec(message: CallMessage): boolean {
  const codec =
    resolvePointer(message, '/audio_config/codec') ??
    resolvePointer(message, '/metadata/audio_config/codec');
  return isStart(message) && codec !== undefined && codec !== 'opus';
}

/** Sends its own messages after a second `start_call`, where the specification is silent. */
export const answerSecondStart = (): VoiceTransformFactory =>
  handleCalls((ends) => {
    let starts = 0;
    return {
      fromKit(text) {
        if (isStart(parseMessage(text) ?? {})) starts += 1;
        if (starts < 2) ends.toSandbox(text);
        else {
          ends.toKit(JSON.stringify({ type: 'call_ready', call_id: 'other', session_id: 'other' }));
          ends.toKit(JSON.stringify({ type: 'call_ready', call_id: 'third' }));
          ends.toKit('restarted', true);
        }
      },
    };
  });

/** Sends an `error` message and closes the WebSocket. */
export function failCall(ends: CallEnds, code: string, closeCode: number): void {
  ends.toKit(JSON.stringify({ type: 'error', error: { code, message: 'No.', details: 'None.' } }));
  ends.closeKit(closeCode);
  ends.closeSandbox();
}

/** Changes the media of every call. */
export const changeMedia = (createHandlers: () => MediaHandlers): VoiceTransformFactory =>
  handleCalls(relayMedia(createHandlers));

/** Refuses WebSocket requests to `/voice` with a status. */
export const refuseUpgrade = (status: number): VoiceTransformFactory => {
  const refusal: ProxyResponse = { status, headers: {}, body: '' };
  return () => ({ respond: ({ path }) => (path === '/voice' ? refusal : undefined) });
};

/** Returns whether a message is a `start_call`. */
export const isStart = ({ type }: CallMessage): boolean => type === 'start_call';

/** Returns whether a message is a `start_call` in the full form. */
export const isFullStart = (message: CallMessage): boolean =>
  isStart(message) && resolvePointer(message, '/metadata/audio_config') !== undefined;
