/** The bursts of trace requests above the rate, and what the service admitted of them (spec 7, 8). */
import { INGEST_REQUESTS_PER_MINUTE_MAX } from '../../../../src/contract/index.ts';
import { MINUTE_MS } from '../../../../src/platform/clock.ts';
import { isAccepted, type Exchange, type Transcript } from '../../../engine/transcript/reading.ts';
import type { TracesStep } from '../steps.ts';
import { isStep } from '../transcript.ts';

/** The bursts of trace requests. The later ones start in a new minute. */
const bursts: readonly TracesStep[] = ['rate', 'rate again', 'rate once more'];

/** How many requests each batch of a burst has after the first. */
export const BATCH_SIZE = 12;

/** The step of requests that are sent in the same minute after a 429, in two rounds. */
export const EARLY_STEP = 'rate early';
/** The time on the service clock before each round. */
export const EARLY_MS = 20_000;
export const EARLY_ROUNDS = 2;

/** The step of a request after a minute without an admitted one, if `Retry-After` asks for more time. */
export const AFTER_A_MINUTE = 'after a minute';

const rateSteps = [...bursts, EARLY_STEP] as const;

/** Returns whether a step belongs to a burst above the rate. */
export const isRateStep = (step: string): boolean => rateSteps.some((name) => name === step);

/** Returns whether an exchange belongs to the first burst. */
export const isOfFirstBurst = (exchange: Exchange): boolean => isStep(exchange, 'traces', 'rate');

/** Returns the answered trace requests of a step in the order they were sent. */
export const answeredOf = ({ exchanges }: Transcript, step: TracesStep): Exchange[] =>
  exchanges
    .filter((exchange) => isStep(exchange, 'traces', step) && exchange.response !== undefined)
    .sort((left, right) => left.startedMs - right.startedMs);

const hasStatus503 = ({ response }: Exchange): boolean => response?.status === 503;

/**
 * Removes the requests that got 503 because the service was busy. It is not too busy for a whole batch: if
 * the last one got nothing else, the service uses 503 for requests above the rate.
 */
const withoutBusy = (burst: Exchange[]): Exchange[] =>
  burst.slice(-BATCH_SIZE).every(hasStatus503)
    ? burst
    : burst.filter((exchange) => !hasStatus503(exchange));

/** Returns whether a request of a burst got 503 because the service was busy. */
export const isBusyResponse = (exchange: Exchange, transcript: Transcript): boolean =>
  hasStatus503(exchange) &&
  rateSteps.some(
    (step) =>
      step === exchange.step && !withoutBusy(answeredOf(transcript, step)).includes(exchange),
  );

/**
 * Returns the answered requests of each burst in the order in which they were sent, without those for
 * which the service was busy.
 */
export const burstsOf = (transcript: Transcript): Exchange[][] =>
  bursts
    .map((step) => withoutBusy(answeredOf(transcript, step)))
    .filter((burst) => burst.length > 0);

/** Returns how long a burst took. */
export const burstMs = (burst: readonly Exchange[]): number =>
  Math.max(...burst.map(({ endedMs }) => endedMs)) - (burst[0]?.startedMs ?? 0);

/** Returns how many requests of a burst the service admitted. */
export const admittedCount = (burst: readonly Exchange[]): number =>
  burst.filter(isAccepted).length;

/** Returns how many requests may pass; a limiter that spreads the rate lets a few more through. */
export function admittedMax(windows: number, ms: number): number {
  const max = INGEST_REQUESTS_PER_MINUTE_MAX;
  return max * windows + Math.floor((max * ms) / MINUTE_MS);
}
