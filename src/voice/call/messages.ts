import { isObject, parseObject } from '../../platform/json.ts';
import type { AnswerForm } from './voice-target.ts';

/** Any message of a call. */
export type CallMessage = Record<string, unknown>;

/** Parses a message; returns undefined if the text is not a JSON object. */
export function parseMessage(text: string): CallMessage | undefined {
  return parseObject(text);
}

/** Returns the SDP offer of a `call_ready` message; undefined without one. */
export function readOffer({ webrtc_offer: offer }: CallMessage): string | undefined {
  const sdp = isObject(offer) ? offer['sdp'] : undefined;
  return typeof sdp === 'string' ? sdp : undefined;
}

/**
 * Creates the message that answers an offer, with the ids of the message that contained the offer.
 */
export function createAnswerMessage(
  ready: CallMessage,
  sdp: string,
  { type, field }: AnswerForm,
): CallMessage {
  const ids = Object.fromEntries(
    ['session_id', 'call_id'].flatMap((key) => (key in ready ? [[key, ready[key]]] : [])),
  );
  return { type, ...ids, [field]: { type: 'answer', sdp } };
}

/** Returns the payload type of Opus in a session description; undefined if Opus is missing. */
export function readOpusPayloadType(sdp: string): number | undefined {
  const type = /^a=rtpmap:(\d+) opus\/48000/im.exec(sdp)?.[1];
  return type === undefined ? undefined : Number(type);
}

/**
 * Returns the candidate line of an `ice_candidate`; some sandboxes send a string, others an object.
 */
export function readCandidate({ candidate }: CallMessage): string | undefined {
  const line = isObject(candidate) ? candidate['candidate'] : candidate;
  return typeof line === 'string' ? line : undefined;
}
