import { isObject } from '../../platform/json.ts';
import type { AnswerForm } from './voice-target.ts';

/** A message of a call, whatever it says. */
export type CallMessage = Record<string, unknown>;

/** The message in some text; undefined where it holds none. */
export function parseMessage(text: string): CallMessage | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The offer that a `call_ready` brings; undefined where it brings none. */
export function readOffer({ webrtc_offer: offer }: CallMessage): string | undefined {
  const sdp = isObject(offer) ? offer['sdp'] : undefined;
  return typeof sdp === 'string' ? sdp : undefined;
}

/** The message that answers an offer, with the ids of the message that brought it. */
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

/** The payload type that a description has for Opus; undefined where it has none. */
export function readOpusPayloadType(sdp: string): number | undefined {
  const type = /^a=rtpmap:(\d+) opus\/48000/im.exec(sdp)?.[1];
  return type === undefined ? undefined : Number(type);
}

/** The line of an `ice_candidate`, which some write flat and some as an object. */
export function readCandidate({ candidate }: CallMessage): string | undefined {
  const line = isObject(candidate) ? candidate['candidate'] : candidate;
  return typeof line === 'string' ? line : undefined;
}
