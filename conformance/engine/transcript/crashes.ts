import type { ExchangeRecord } from '../../../src/contract/index.ts';
import { computeOnce } from '../../../src/platform/compute-once.ts';
import { isObject, parseJson } from '../../../src/platform/json.ts';
import { isVoice } from './call-messages.ts';
import { endedAfter, isEndedAfter, wasUnread } from './failure-messages.ts';
import { isConnectionFailure, RECOVERY, RECREATION, type Exchange } from './reading.ts';
import { isTransient, repetitionOf } from './repetitions.ts';
import type { Crash, Transcript } from './transcript.ts';

const GATEWAY_ERRORS = [502, 503, 504];

/** Returns whether the peer itself responded, not a gateway in front of it. */
export function isUp({ response }: { response?: ExchangeRecord['response'] | undefined }): boolean {
  if (!response) return false;
  return !GATEWAY_ERRORS.includes(response.status) || isObject(parseJson(response.body));
}

/** The requests that waited for the peer once, and the failed exchanges that they follow. */
interface Wait {
  polls: readonly Exchange[];
  failed: readonly Exchange[];
}

function findWaits(exchanges: readonly Exchange[]): Wait[] {
  const waits: Wait[] = [];
  let polls: Exchange[] = [];
  let sinceMs = -Infinity;
  const close = (): void => {
    const untilMs = polls.at(-1)?.endedMs ?? sinceMs;
    const isWithin = ({ endedMs }: Exchange): boolean => endedMs > sinceMs && endedMs <= untilMs;
    const failed = exchanges.filter(
      (exchange) => exchange.probe !== RECOVERY && isWithin(exchange) && isCutOff(exchange),
    );
    waits.push({ polls, failed });
    polls = [];
    sinceMs = untilMs;
  };
  for (const exchange of exchanges) {
    if (exchange.probe !== RECOVERY || exchange.endpoint !== 'health') continue;
    polls.push(exchange);
    if (isUp(exchange)) close();
  }
  if (polls.length > 0) close();
  return waits;
}

function isCutOff(exchange: Exchange): boolean {
  const isDropped = exchange.call?.events.some(
    ({ kind, from, code }) => kind === 'close' && from === 'sandbox' && code === 1006,
  );
  return isConnectionFailure(exchange) || isDropped === true;
}

/** Returns the times when the peer did not respond. */
export const crashesOf = computeOnce(({ exchanges }: Transcript): readonly Crash[] =>
  findCrashes(exchanges),
);

function findCrashes(exchanges: readonly Exchange[]): Crash[] {
  const fatal = findFatalCreations(exchanges);
  const crashes: Crash[] = [];
  for (const { polls, failed } of findWaits(exchanges)) {
    const [first, ...more] = polls;
    const last = more.at(-1) ?? first;
    if (!first || !last || isUp(first)) continue;
    const startedMs = Math.min(first.startedMs, ...failed.map(({ endedMs }) => endedMs));
    const crash = { downMs: Math.round(last.endedMs - startedMs), cameBack: isUp(last) };
    const caused = fatal.find(({ again }) => again.id > first.id && again.id < last.id)?.created;
    const previous = crashes.at(-1);
    if (caused && previous) {
      // The creation of this user ended the peer again, alone.
      const [suspects, culprits] = [previous.suspects, previous.culprits].map((list) => [
        ...new Set([caused, ...list]),
      ]) as [Exchange[], Exchange[]];
      const downMs = previous.downMs + crash.downMs;
      crashes[crashes.length - 1] = { ...previous, ...crash, downMs, suspects, culprits };
      continue;
    }
    const inFlight = failed.filter(({ failure }) => failure?.kind !== 'refused');
    const suspects = orderSuspects(inFlight, exchanges);
    crashes.push({
      ...crash,
      suspects,
      culprits: suspects.filter((suspect) => isReproduced(suspect, exchanges)),
      refused: failed.filter(({ failure }) => failure?.kind === 'refused'),
    });
  }
  return crashes;
}

/** Finds the users that were created once, and whose creation after a crash ended the peer again. */
function findFatalCreations(
  exchanges: readonly Exchange[],
): { created: Exchange; again: Exchange }[] {
  const ending = exchanges.filter(
    (exchange) =>
      exchange.probe === RECOVERY && exchange.step === RECREATION && isEndedAfter(exchange),
  );
  return ending.flatMap((again) => {
    const created = exchanges.findLast(
      ({ id, probe, endpoint, request, response }) =>
        id < again.id &&
        probe !== RECOVERY &&
        endpoint === 'create' &&
        response !== undefined &&
        request.body === again.request.body,
    );
    return created ? [{ created, again }] : [];
  });
}

/**
 * Returns the requests that were in flight when the peer stopped, the most likely cause first: those that
 * stopped it again, then those that it had read, those that are unlike any that got a response, and the
 * ones sent last. Calls and requests for health, which continue all the time, come last.
 */
export function orderSuspects(
  suspects: readonly Exchange[],
  exchanges: readonly Exchange[],
): Exchange[] {
  const doubts = (suspect: Exchange): number[] => [
    isReproduced(suspect, exchanges) ? 0 : 1,
    suspect.endpoint === 'health' ? 2 : isVoice(suspect) ? 1 : 0,
    wasUnread(suspect) ? 1 : 0,
    exchanges.some((other) => isUp(other) && isAlike(other, suspect)) ? 1 : 0,
    -suspect.startedMs,
  ];
  const rows = suspects.map((suspect) => ({ suspect, doubts: doubts(suspect) }));
  const compare = (a: (typeof rows)[number], b: (typeof rows)[number]): number =>
    a.doubts.map((doubt, index) => doubt - (b.doubts[index] ?? 0)).find((each) => each !== 0) ?? 0;
  return rows.toSorted(compare).map(({ suspect }) => suspect);
}

/** Returns whether two requests have the same form. Generated ones differ in their properties. */
function isAlike(other: Exchange, suspect: Exchange): boolean {
  const isSameStep = other.endpoint === suspect.endpoint && other.step === suspect.step;
  const known = other.properties ?? [];
  return isSameStep && (suspect.properties ?? []).every((property) => known.includes(property));
}

/**
 * Returns whether the connection of a request failed at the first attempt and at the repetition. One that
 * was refused both times never reached the peer.
 */
export function isReproduced(exchange: Exchange, exchanges: readonly Exchange[]): boolean {
  if (isVoice(exchange)) return false;
  const other =
    repetitionOf(exchange, { exchanges }) ?? exchanges.find(({ id }) => id === exchange.repeats);
  return (
    other !== undefined &&
    isConnectionFailure(other) &&
    [exchange, other].some(({ failure }) => failure?.kind !== 'refused')
  );
}

/** A connection that breaks this close to another one is taken to break for the same reason. */
const SAME_MOMENT_MS = 250;

/**
 * Returns the transcript that checks judge: without the requests that waited for the peer, and without
 * the exchanges that failed only because another request ended the peer.
 */
export function removeCollateral(transcript: Transcript): Transcript {
  const { run, exchanges } = transcript;
  const crashes = crashesOf(transcript);
  const collateral = findCollateral(exchanges, crashes);
  const isJudged = (exchange: Exchange): boolean =>
    exchange.probe !== RECOVERY && !collateral.has(exchange);
  const fatal = new Set(crashes.flatMap(({ culprits }) => culprits));
  const judged = exchanges
    .filter(isJudged)
    .map((exchange) => (fatal.has(exchange) ? showEnd(exchange) : exchange));
  return { run, exchanges: judged, crashes };
}

const userIdOf = ({ sent }: Exchange): unknown => (isObject(sent) ? sent['user_id'] : undefined);

/** Replaces the body of a response with the crash that followed it. */
function showEnd(exchange: Exchange): Exchange {
  const { response, ...others } = exchange;
  return response ? { ...others, json: undefined, failure: endedAfter(response.status) } : exchange;
}

/** Returns the requests that are blamed for a crash: those that crashed the peer again, or the likely ones. */
export function findBlamed({ culprits, suspects }: Crash): readonly Exchange[] {
  return culprits.length > 0 ? culprits : findLikely(suspects);
}

/**
 * Returns what counts if no request can be named that ended the peer: the requests that were in flight,
 * or else the calls, or else the requests for health.
 */
function findLikely(suspects: readonly Exchange[]): readonly Exchange[] {
  const others = suspects.filter(({ endpoint }) => endpoint !== 'health');
  const requests = others.filter((suspect) => !isVoice(suspect));
  return [requests, others, suspects].find(({ length }) => length > 0) ?? [];
}

function findCollateral(
  exchanges: readonly Exchange[],
  crashes: readonly Crash[],
): ReadonlySet<Exchange> {
  const ofCrashes = crashes.flatMap((crash) => {
    const { suspects, refused } = crash;
    if (suspects.length === 0) return [];
    const blamed = new Set(findBlamed(crash));
    const isInnocent = (suspect: Exchange): boolean => !blamed.has(suspect);
    return [...refused, ...suspects.filter(isInnocent)];
  });
  // A supervisor that keeps the port open hides that one of its processes ended.
  const broken = exchanges.filter(
    (exchange) => exchange.probe !== RECOVERY && isConnectionFailure(exchange),
  );
  const culprits = broken.filter((exchange) => isReproduced(exchange, exchanges));
  const ofDrops = broken.filter(
    (exchange) =>
      isTransient(exchange, { exchanges }) &&
      culprits.some(
        ({ startedMs, endedMs }) =>
          exchange.startedMs < endedMs &&
          startedMs < exchange.endedMs &&
          Math.abs(exchange.endedMs - endedMs) <= SAME_MOMENT_MS,
      ),
  );
  // Such a user is not created again, so it is unknown later.
  const lost = new Set(findFatalCreations(exchanges).map(({ created }) => userIdOf(created)));
  const ofLost = exchanges.filter(
    ({ endpoint, request }) =>
      endpoint === 'delete' && lost.has(request.path.slice(request.path.lastIndexOf('/') + 1)),
  );
  return new Set([...ofCrashes, ...ofDrops, ...ofLost]);
}
