import type { CallEvent, CallMedia, ExchangeRecord } from '../../../src/contract/index.ts';
import { computeOnce } from '../../../src/platform/compute-once.ts';
import { isObject, parseJson } from '../../../src/platform/json.ts';
import { isNotFound, type Exchange } from './reading.ts';

/** A message of a call, parsed. */
export interface ParsedMessage {
  event: CallEvent;
  /** The JSON value; undefined if the text is not JSON or was recorded only in part. */
  json: unknown;
  /** The `type` of the message; undefined if it has none. */
  type: string | undefined;
}

/** The preflight step that requests the voice WebSocket. */
export const UPGRADE = 'upgrade';
/** The preflight step that requests a WebSocket at a path that can't exist, for comparison. */
export const UNKNOWN_PATH = 'unknown path';

/** Returns whether an exchange is with the voice endpoint. */
export const isVoice = (exchange: ExchangeRecord): boolean => exchange.endpoint === 'voice';

/** Returns whether the WebSocket of an exchange opened. */
export const isOpened = (exchange: ExchangeRecord): boolean =>
  isVoice(exchange) && exchange.response?.status === 101;

/** Returns all messages of a call in order. */
export const messagesOf = computeOnce(({ call }: Exchange): readonly ParsedMessage[] =>
  (call?.events ?? []).filter(({ kind }) => kind === 'message').map(readMessage),
);

function readMessage(event: CallEvent): ParsedMessage {
  const json = parseJson(event.text ?? '');
  const type = isObject(json) ? json['type'] : undefined;
  return { event, json, type: typeof type === 'string' ? type : undefined };
}

/** Returns the messages that the sandbox sent in a call, all or those of one type. */
export function sandboxMessagesOf(exchange: Exchange, type?: string): ParsedMessage[] {
  return messagesOf(exchange).filter(
    (message) => message.event.from === 'sandbox' && (type === undefined || message.type === type),
  );
}

/** Returns the `start_call` that the kit sent. */
export function startCallOf(exchange: Exchange): Record<string, unknown> | undefined {
  const start = messagesOf(exchange).find(
    ({ event, type }) => event.from === 'kit' && type === 'start_call',
  );
  return start && isObject(start.json) ? start.json : undefined;
}

/** Removes the messages that the sandbox sent after a second `start_call` of the kit. */
export function dropAfterSecondStart(exchange: Exchange): Exchange {
  const { call } = exchange;
  const [, second] = messagesOf(exchange).filter(
    ({ event, type }) => event.from === 'kit' && type === 'start_call',
  );
  if (!call || !second) return exchange;
  const at = call.events.indexOf(second.event);
  const events = call.events.filter(
    ({ from, kind }, nth) => nth < at || from === 'kit' || kind !== 'message',
  );
  return { ...exchange, call: { ...call, events } };
}

/** Returns the first `call_ready` of a call. */
export function callReadyOf(exchange: Exchange): ParsedMessage | undefined {
  return sandboxMessagesOf(exchange, 'call_ready')[0];
}

/** Returns the `call_id` of the first `call_ready`. */
export function callReadyIdOf(exchange: Exchange): string | undefined {
  const ready = callReadyOf(exchange);
  const value = isObject(ready?.json) ? ready.json['call_id'] : undefined;
  return typeof value === 'string' ? value : undefined;
}

/** Returns the SDP of the offer; undefined if it is not a string. */
export function offerOf(exchange: Exchange): string | undefined {
  const ready = callReadyOf(exchange);
  const offer = isObject(ready?.json) ? ready.json['webrtc_offer'] : undefined;
  const sdp = isObject(offer) ? offer['sdp'] : undefined;
  return typeof sdp === 'string' ? sdp : undefined;
}

/** Returns the events of a kind, from either side or from one side. */
export function eventsOf(
  exchange: Exchange,
  kind: CallEvent['kind'],
  from?: CallEvent['from'],
): CallEvent[] {
  return (exchange.call?.events ?? []).filter(
    (event) => event.kind === kind && (from === undefined || event.from === from),
  );
}

/** Returns whether the WebRTC connection of a call was established. */
export const isConnected = (exchange: Exchange): boolean =>
  eventsOf(exchange, 'connected').length > 0;

/** Returns whether ICE found a network path and the connection broke during setup. */
export const isBrokenDuringSetup = (exchange: Exchange): boolean =>
  eventsOf(exchange, 'unconnected').length > 0 && exchange.call?.media?.hasPath === true;

/** Returns the media of a connected call. */
export function mediaOf(exchange: Exchange): CallMedia | undefined {
  return isConnected(exchange) ? exchange.call?.media : undefined;
}

/** Returns when the kit hung up, in milliseconds since the start of the run; Infinity if it didn't. */
export function hangUpMsOf(exchange: Exchange): number {
  return eventsOf(exchange, 'close', 'kit')[0]?.atMs ?? Infinity;
}

/** Returns the close event if the sandbox closed the WebSocket before the kit hung up. */
export function sandboxCloseOf(exchange: Exchange): CallEvent | undefined {
  const [close] = eventsOf(exchange, 'close', 'sandbox');
  return close && close.atMs <= hangUpMsOf(exchange) ? close : undefined;
}

/**
 * Returns whether a sandbox has no voice endpoint: its WebSocket request is refused like a request for
 * an unknown path. A missing key proves nothing. If the health response says that voice is
 * operational, only a refusal with a response counts.
 */
export function isVoiceAbsent(exchanges: readonly Exchange[]): boolean {
  const refusal = findUnknownPathRefusal(exchanges);
  return refusal === 'answered' || (refusal === 'unanswered' && !exchanges.some(claimsVoice));
}

/** Returns whether a health response says that voice is operational. */
export const claimsVoice = (exchange: Exchange): boolean =>
  exchange.endpoint === 'health' &&
  isObject(exchange.json) &&
  exchange.json['webrtc_status'] === 'operational';

/** Some servers drop or never answer upgrade requests to paths that they don't serve. */
const UNANSWERED_KINDS: readonly unknown[] = ['reset', 'timeout'];

/**
 * Returns how the WebSocket is refused if an unknown path is refused in the same way: with a response
 * or without one. Returns undefined if the WebSocket opens or is refused differently.
 */
export function findUnknownPathRefusal(
  exchanges: readonly Exchange[],
): 'answered' | 'unanswered' | undefined {
  const last = (step: string): Exchange | undefined =>
    exchanges.findLast((exchange) => isVoice(exchange) && exchange.step === step);
  const [upgrade, unknownPath] = [last(UPGRADE), last(UNKNOWN_PATH)];
  if (
    !upgrade ||
    isOpened(upgrade) ||
    exchanges.some((exchange) => isOpened(exchange) && exchange.step !== UNKNOWN_PATH)
  ) {
    return undefined;
  }
  if (isNotFound(upgrade)) return 'answered';
  const status = upgrade.response?.status;
  if (!unknownPath || status === 401 || status === 429) return undefined;
  const [kind, unknownKind] = [upgrade.failure?.kind, unknownPath.failure?.kind];
  if (status !== unknownPath.response?.status || kind !== unknownKind) return undefined;
  if (kind === undefined) return 'answered';
  return UNANSWERED_KINDS.includes(kind) ? 'unanswered' : undefined;
}
