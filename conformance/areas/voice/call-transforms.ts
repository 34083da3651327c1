/** Sandboxes that change WebSockets and calls. */
import { resolvePointer } from '../../../src/contract/index.ts';
import { parseMessage, type CallMessage } from '../../../src/voice/call/messages.ts';
import { passThrough, type Edit } from '../../engine/mutants/combinators.ts';
import type {
  CallEnds,
  CallHandlers,
  ProxyRequest,
  VoiceTransformFactory,
} from '../../engine/mutants/mutant.ts';
import { relayMedia, type MediaHandlers } from '../../engine/mutants/voice-relay.ts';
import type { DistortionEntry } from '../../engine/requirement.ts';

/** Writes a mutant or legal variant that changes WebSockets and calls but no HTTP responses. */
export const distortCalls = (
  description: string,
  voice: VoiceTransformFactory,
  more: Partial<DistortionEntry> = {},
): DistortionEntry => ({ description, transform: passThrough, voice, ...more });

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
    let originalIds = {};
    return {
      fromSandbox(text) {
        const message = parseMessage(text);
        if (message?.['type'] === 'call_ready') originalIds = idsIn(message);
        if (!message || (type !== ANY && message['type'] !== type)) {
          ends.toKit(text);
          return;
        }
        for (const replacement of replace(message, ends)) {
          ends.toKit(typeof replacement === 'string' ? replacement : JSON.stringify(replacement));
        }
      },
      fromKit: (text, isBinary) => ends.toSandbox(isBinary ? text : withIds(text, originalIds)),
    };
  });
}

/** Returns the ids of a call that a message has. */
export const idsIn = (message: CallMessage): object =>
  Object.fromEntries(
    ['call_id', 'session_id'].flatMap((key) => (key in message ? [[key, message[key]]] : [])),
  );

/**
 * Restores the ids of the upstream sandbox in the SDP answer of the kit, so that a mutant that
 * changes an id breaks nothing else.
 */
function withIds(text: string, ids: object): string {
  const message = parseMessage(text);
  if (message?.['type'] !== 'webrtc_answer') return text;
  const { call_id: _call, session_id: _session, ...rest } = message;
  return JSON.stringify({ ...rest, ...ids });
}

/** Returns a function that writes mutants and variants whose messages of a type are edited. */
export const editsOf =
  (type: string) =>
  (description: string, ...edits: Edit[]): DistortionEntry =>
    distortCalls(
      description,
      replaceMessages(type, (message) => {
        const edited = structuredClone(message);
        for (const edit of edits) edit(edited, NO_REQUEST);
        return [edited];
      }),
    );

/** Edits the SDP of every offer. */
export const editOffers = (edit: (sdp: string) => string): VoiceTransformFactory =>
  replaceMessages('call_ready', (message) => {
    const sdp = resolvePointer(message, '/webrtc_offer/sdp');
    const edited = edit(typeof sdp === 'string' ? sdp : '');
    return [{ ...message, webrtc_offer: { type: 'offer', sdp: edited } }];
  });

/** Replaces the matches of a pattern in the SDP of every offer. */
export const replaceInOffers = (pattern: RegExp, replacement: string): VoiceTransformFactory =>
  editOffers((sdp) => sdp.replace(pattern, replacement));

/** Removes the lines that start with a pattern from the SDP of every offer. */
export const removeOfferLines = (start: RegExp): VoiceTransformFactory =>
  editOffers((sdp) => sdp.replace(new RegExp(`^${start.source}.*\\r\\n`, 'gim'), ''));

/** Responds to some messages of the kit instead of the sandbox. */
export function interceptMessages(
  isIntercepted: (message: CallMessage) => boolean,
  respond: (ends: CallEnds) => void,
): VoiceTransformFactory {
  return handleCalls((ends) => ({
    fromKit(text) {
      if (isIntercepted(parseMessage(text) ?? {})) respond(ends);
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

/** Sends an `error` message with the code `connection_failed`, and closes the WebSocket. */
export function failCall(ends: CallEnds, closeCode: number): void {
  const error = { code: 'connection_failed', message: 'No.', details: 'None.' };
  ends.toKit(JSON.stringify({ type: 'error', error }));
  ends.closeKit(closeCode);
  ends.closeSandbox();
}

/** Changes the media of every call. */
export const changeMedia = (createHandlers: () => MediaHandlers): VoiceTransformFactory =>
  handleCalls(relayMedia(createHandlers));

/** Returns whether a message is a `start_call`. */
export const isStart = ({ type }: CallMessage): boolean => type === 'start_call';

/** Returns whether a message is a `start_call` in the full form. */
export const isFullStart = (message: CallMessage): boolean =>
  isStart(message) && resolvePointer(message, '/metadata/audio_config') !== undefined;
