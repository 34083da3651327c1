import { isVoice } from './call-messages.ts';
import { isBroken, RECOVERY, type Exchange } from './reading.ts';

interface Exchanges {
  exchanges: readonly Exchange[];
}

/** The repetitions of a list of exchanges. During a run, the list grows. */
interface Cached {
  length: number;
  repetitions: ReadonlyMap<number, Exchange>;
}

const repetitionCache = new WeakMap<readonly Exchange[], Cached>();

/** Returns the last repetition by the id of the exchange that it repeats. Many checks ask for it. */
function repetitionsOf({ exchanges }: Exchanges): ReadonlyMap<number, Exchange> {
  const { length } = exchanges;
  const cached = repetitionCache.get(exchanges);
  if (cached?.length === length) return cached.repetitions;
  const repetitions = new Map(
    exchanges.flatMap((exchange) =>
      exchange.repeats === undefined ? [] : [[exchange.repeats, exchange] as const],
    ),
  );
  repetitionCache.set(exchanges, { length, repetitions });
  return repetitions;
}

/** Returns the exchange where a failed request was sent again, alone; undefined if it was not. */
export function repetitionOf({ id }: Exchange, transcript: Exchanges): Exchange | undefined {
  return repetitionsOf(transcript).get(id);
}

/** Returns whether a request failed, and did not fail when it was sent again alone. */
export function isTransient(exchange: Exchange, transcript: Exchanges): boolean {
  const repetition = repetitionOf(exchange, transcript);
  return isBroken(exchange) && repetition !== undefined && !isBroken(repetition);
}

/**
 * Returns whether an exchange says something about the form of its request. A failed request that was
 * sent again is judged by the repetition. A failed one that was not sent again says nothing if others
 * like it failed only once.
 */
export function isConclusive(exchange: Exchange, transcript: Exchanges): boolean {
  if (!isBroken(exchange)) return true;
  const repetitions = repetitionsOf(transcript);
  if (repetitions.has(exchange.id)) return false;
  if (exchange.repeats !== undefined || repetitions.size === 0) return true;
  const { endpoint, intent } = exchange;
  return !transcript.exchanges.some(
    (other) =>
      other.endpoint === endpoint && other.intent === intent && isTransient(other, transcript),
  );
}

/** Returns whether no other request was in flight during an exchange. Calls don't count. */
export function wasAlone(exchange: Exchange, { exchanges }: Exchanges): boolean {
  const { id, startedMs, endedMs } = exchange;
  return !exchanges.some(
    (other) =>
      other.id !== id &&
      other.probe !== RECOVERY &&
      !isVoice(other) &&
      other.startedMs < endedMs &&
      other.endedMs > startedMs,
  );
}

/**
 * Returns whether an attempt shows how a request fares among concurrent ones: the first attempt, unless
 * requests to the endpoint also fail at times when no other request is in flight.
 */
export function showsOverlap(exchange: Exchange, transcript: Exchanges): boolean {
  if (exchange.repeats !== undefined) return false;
  const repetition = repetitionOf(exchange, transcript);
  if (!isBroken(exchange) || (repetition && isBroken(repetition))) return true;
  return !transcript.exchanges.some(
    (other) =>
      other.endpoint === exchange.endpoint &&
      isTransient(other, transcript) &&
      wasAlone(other, transcript),
  );
}

/** The most exchanges that `overlapping` returns: those that start later, and earlier. */
const LATER_MAX = 2;
const EARLIER_MAX = 1;

/** Returns the exchanges that were in flight at the same time as another one. */
export function overlapping(
  { id, startedMs, endedMs }: Exchange,
  candidates: readonly Exchange[],
): Exchange[] {
  const concurrent = candidates.filter(
    (other) => other.id !== id && other.startedMs < endedMs && other.endedMs > startedMs,
  );
  const later = concurrent.filter((other) => other.startedMs >= startedMs);
  const earlier = concurrent.filter((other) => other.startedMs < startedMs);
  return [...later.slice(0, LATER_MAX), ...earlier.slice(-EARLIER_MAX)];
}

/** Returns the exchanges that overlap another one, or else the last one before it. */
export function closestTo(exchange: Exchange, candidates: readonly Exchange[]): Exchange[] {
  const concurrent = overlapping(exchange, candidates);
  if (concurrent.length > 0) return concurrent;
  const last = candidates.findLast((other) => other.endedMs <= exchange.startedMs);
  return last ? [last] : candidates.slice(0, 1);
}
