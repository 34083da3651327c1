import type { CallEvent, CallMedia } from '../../../src/contract/index.ts';
import { isObject } from '../../../src/platform/json.ts';
import { isNotFound, type Exchange } from './reading.ts';

/** A message of a call, with what the checks read from it. */
export interface ParsedMessage {
  event: CallEvent;
  /** As JSON; undefined where it is none, or was not kept whole. */
  json: unknown;
  /** Its type, where it is an object that has one. */
  type: string | undefined;
}

/** The step of the preflight that asks for the voice WebSocket, and the one that it is held against. */
export const UPGRADE = 'upgrade';
export const UNKNOWN_PATH = 'unknown path';

/** Whether an exchange is with the voice endpoint. */
export const isVoice = (one: Exchange): boolean => one.endpoint === 'voice';

/** Whether its WebSocket opened. */
export const isOpened = (one: Exchange): boolean => isVoice(one) && one.response?.status === 101;

const read = new WeakMap<Exchange, readonly ParsedMessage[]>();

/** All messages of a call, in their order. */
export function messagesOf(one: Exchange): readonly ParsedMessage[] {
  const known = read.get(one);
  if (known) return known;
  const messages = (one.call?.events ?? [])
    .filter(({ kind }) => kind === 'message')
    .map(readMessage);
  read.set(one, messages);
  return messages;
}

function readMessage(event: CallEvent): ParsedMessage {
  const json = parsed(event.text ?? '');
  const type = isObject(json) ? json['type'] : undefined;
  return { event, json, type: typeof type === 'string' ? type : undefined };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** What the sandbox said in a call; of one type where that is named. */
export function sandboxMessagesOf(one: Exchange, type?: string): ParsedMessage[] {
  return messagesOf(one).filter(
    (message) => message.event.from === 'sandbox' && (type === undefined || message.type === type),
  );
}

/** The `start_call` that the kit sent, as JSON. */
export function startCallOf(one: Exchange): Record<string, unknown> | undefined {
  const start = messagesOf(one).find(
    ({ event, type }) => event.from === 'kit' && type === 'start_call',
  );
  return start && isObject(start.json) ? start.json : undefined;
}

/** A call without what the sandbox said after a second `start_call` of the kit. */
export function dropAfterSecondStart(one: Exchange): Exchange {
  const { call } = one;
  const [, second] = messagesOf(one).filter(
    ({ event, type }) => event.from === 'kit' && type === 'start_call',
  );
  if (!call || !second) return one;
  const at = call.events.indexOf(second.event);
  const events = call.events.filter(
    ({ from, kind }, nth) => nth < at || from === 'kit' || kind !== 'message',
  );
  return { ...one, call: { ...call, events } };
}

/** The first `call_ready` of a call. */
export function callReadyOf(one: Exchange): ParsedMessage | undefined {
  return sandboxMessagesOf(one, 'call_ready')[0];
}

/** A string of the first `call_ready`. */
export function callReadyIdOf(one: Exchange, key: 'call_id' | 'session_id'): string | undefined {
  const ready = callReadyOf(one);
  const value = isObject(ready?.json) ? ready.json[key] : undefined;
  return typeof value === 'string' ? value : undefined;
}

/** The description of the offer, where it is text. */
export function offerOf(one: Exchange): string | undefined {
  const ready = callReadyOf(one);
  const offer = isObject(ready?.json) ? ready.json['webrtc_offer'] : undefined;
  const sdp = isObject(offer) ? offer['sdp'] : undefined;
  return typeof sdp === 'string' ? sdp : undefined;
}

/** The events of a kind. */
export function eventsOf(
  one: Exchange,
  kind: CallEvent['kind'],
  from?: CallEvent['from'],
): CallEvent[] {
  return (one.call?.events ?? []).filter(
    (event) => event.kind === kind && (from === undefined || event.from === from),
  );
}

/** Whether media could flow. */
export const isConnected = (one: Exchange): boolean => eventsOf(one, 'connected').length > 0;

/** Whether the two sides found each other, and the connection broke while it was made. */
export const isBrokenDuringSetup = (one: Exchange): boolean =>
  eventsOf(one, 'unconnected').length > 0 && one.call?.media?.hasPath === true;

/** The media of a call in which it could flow. */
export function mediaOf(one: Exchange): CallMedia | undefined {
  return isConnected(one) ? one.call?.media : undefined;
}

/** When the kit hung up, in milliseconds since the run began; Infinity where it did not. */
export function hangUpMsOf(one: Exchange): number {
  return eventsOf(one, 'close', 'kit')[0]?.atMs ?? Infinity;
}

/** The end of the WebSocket, where the sandbox brought it about before the kit hung up. */
export function sandboxCloseOf(one: Exchange): CallEvent | undefined {
  const [close] = eventsOf(one, 'close', 'sandbox');
  return close && close.atMs <= hangUpMsOf(one) ? close : undefined;
}

/**
 * Whether a sandbox has no voice: its WebSocket is refused as an unknown path is. Servers differ in
 * how they refuse an upgrade to what they do not have, so a path that is surely none is asked for as
 * well. A missing key is no sign of it. One whose health speaks of voice has it, unless it says itself
 * that it has none.
 */
export function isVoiceAbsent(exchanges: readonly Exchange[]): boolean {
  const how = findUnknownPathRefusal(exchanges);
  return how === 'answered' || (how === 'unanswered' && !exchanges.some(claimsVoice));
}

/** Whether a health answer says that voice is there. */
export const claimsVoice = (one: Exchange): boolean =>
  one.endpoint === 'health' && isObject(one.json) && one.json['webrtc_status'] === 'operational';

/** Some servers drop, or let hang, who asks for an upgrade to what they do not have. */
const UNANSWERED: readonly unknown[] = ['reset', 'timeout'];

/** How the WebSocket is refused, where an unknown path is refused alike: by an answer, or without. */
export function findUnknownPathRefusal(
  exchanges: readonly Exchange[],
): 'answered' | 'unanswered' | undefined {
  const last = (step: string): Exchange | undefined =>
    exchanges.findLast((one) => isVoice(one) && one.step === step);
  const [probe, other] = [last(UPGRADE), last(UNKNOWN_PATH)];
  if (
    !probe ||
    isOpened(probe) ||
    exchanges.some((one) => isOpened(one) && one.step !== UNKNOWN_PATH)
  ) {
    return undefined;
  }
  if (isNotFound(probe)) return 'answered';
  const status = probe.response?.status;
  if (!other || status === 401 || status === 429) return undefined;
  const [kind, kindOfOther] = [probe.failure?.kind, other.failure?.kind];
  if (status !== other.response?.status || kind !== kindOfOther) return undefined;
  if (kind === undefined) return 'answered';
  return UNANSWERED.includes(kind) ? 'unanswered' : undefined;
}
