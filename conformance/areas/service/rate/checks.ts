import { ingestRequestsPerMinuteMax } from '../../../../src/contract/index.ts';
import { instantMs } from '../../../../src/platform/clock.ts';
import {
  notJudged,
  checkEach,
  wrongOutcome,
  type Check,
  type Finding,
} from '../../../engine/checks/check.ts';
import { hasControl, needsIntrusion } from '../reading.ts';
import {
  isAccepted,
  isRateLimited,
  type Exchange,
  type Transcript,
} from '../../../engine/transcript/reading.ts';
import { retryAfterMs } from '../../../engine/transcript/retry-after.ts';

const MAX = ingestRequestsPerMinuteMax;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** A burst with what was sent before it by the same key; the later ones begin after a minute. */
const FIRST = 'rate';
const LATER = ['rate again', 'rate once more'];
const AS_TOLD = ['after Retry-After', 'rate again'];

const isTraces = (one: Exchange): boolean => one.endpoint === 'traces';

/** The requests of each burst in the order in which they left, where some were answered. */
function burstsOf({ exchanges }: Transcript): Exchange[][] {
  return [FIRST, ...LATER]
    .map((step) =>
      exchanges
        .filter((one) => isTraces(one) && one.step === step && one.response !== undefined)
        .sort((one, other) => one.startedMs - other.startedMs),
    )
    .filter((burst) => burst.length > 0);
}

const tookMs = (burst: readonly Exchange[]): number =>
  Math.max(...burst.map(({ endedMs }) => endedMs)) - (burst[0]?.startedMs ?? 0);

/** What may be let through in such a time: a rate that is spread over the minute lets more. */
function letThroughMax(windows: number, ms: number): number {
  return MAX * windows + Math.floor((MAX * ms) / MINUTE_MS);
}

const letThrough = (burst: readonly Exchange[]): number => burst.filter(isAccepted).length;

const rateUnseen = needsIntrusion(
  notJudged('not_observed', 'So many requests could not be sent within a minute.'),
);

/**
 * Whoever sends 240 in a minute has passed the rate however the minutes are cut. One burst with more
 * than 120 may have run over the end of a minute, and two that are out of step can't.
 */
export function putsOff(): Check {
  return {
    evidence(transcript) {
      const bursts = burstsOf(transcript);
      const isEnough = bursts.some((burst) => burst.length > 2 * MAX && tookMs(burst) < MINUTE_MS);
      return isEnough || bursts.flat().some(isRateLimited) ? bursts.flat() : [];
    },
    judge(_evidence, transcript) {
      const bursts = burstsOf(transcript);
      const isOver = (burst: Exchange[], windows: number): boolean =>
        letThrough(burst) > letThroughMax(windows, tookMs(burst));
      const far = bursts.find((burst) => !burst.some(isRateLimited) || isOver(burst, 2));
      // Where one key is for all, the first is what other requests left of the rate.
      const own = hasControl(transcript)
        ? bursts
        : bursts.filter(([one]) => one !== undefined && one.step !== FIRST);
      const isEach = own.length > 1 && own.every((burst) => isOver(burst, 1));
      const burst = far ?? (isEach ? own[0] : undefined);
      const last = burst?.findLast(isAccepted) ?? burst?.at(-1);
      if (!burst || !last) return [];
      const expected = `429 after ${MAX} requests in a minute`;
      return [wrongOutcome(last, `${expected}, not after ${letThrough(burst)}`)];
    },
    unjudged: rateUnseen,
  };
}

/** Requests with a key of nobody's are not counted for that of the run. */
const OTHER_KEYS = ['none key', 'wrong key'];

/**
 * Trace requests with the key of the first that was put off, in the minute before it: of one that
 * was refused or got no answer nobody knows that it was not counted.
 */
function admittedBefore(first: Exchange, transcript: Transcript): number {
  const isOfKey = (one: Exchange): boolean =>
    first.step !== FIRST || hasControl(transcript)
      ? one.step === first.step
      : !OTHER_KEYS.includes(one.step);
  return transcript.exchanges.filter(
    (one) =>
      isTraces(one) &&
      isOfKey(one) &&
      !isRateLimited(one) &&
      one.startedMs < first.endedMs &&
      one.endedMs > first.startedMs - MINUTE_MS,
  ).length;
}

/** Of each burst, the rate came through before any was put off. */
export function putsOffNoneBefore(): Check {
  const firsts = (transcript: Transcript): Exchange[] =>
    burstsOf(transcript).flatMap((burst) => {
      // One of which nothing came through was not in a new minute for the service.
      const isOwn = burst[0]?.step === FIRST || burst.some(isAccepted);
      const put = isOwn ? burst.filter(isRateLimited) : [];
      // Those that left together are put off in any order: all of them were sent by then.
      const last = put.toSorted((one, other) => other.endedMs - one.endedMs)[0];
      return last ?? [];
    });
  return {
    evidence: (transcript) => firsts(transcript),
    judge: (evidence, transcript): Finding[] =>
      evidence.flatMap((first) => {
        const admitted = admittedBefore(first, transcript);
        if (admitted >= MAX) return [];
        const expected = `429 after ${MAX} requests in a minute, not after ${admitted}`;
        return [wrongOutcome(first, expected)];
      }),
    unjudged: rateUnseen,
  };
}

const isMoved = ({ exchanges }: Transcript): boolean =>
  exchanges.some((one) => one.endpoint === 'admin' && /^clock/.test(one.step) && isAccepted(one));

/** Retry-After is a time to come that can be waited for: the rate is one of a minute. */
export function saysWhen(): Check {
  return checkEach(
    (one) => isTraces(one) && isRateLimited(one),
    (one, transcript) => {
      const nowMs = (instantMs(transcript.run.startedAt) ?? 0) + one.endedMs;
      const waitMs = retryAfterMs(one, nowMs);
      const isDate = /GMT\s*$/.test(one.response?.headers['retry-after'] ?? '');
      // A date has whole seconds, and may have come in the one that it was sent in.
      const isToCome = waitMs !== undefined && (isDate ? waitMs >= 0 : waitMs > 0);
      // A date by a clock that was moved on is not one of the clock that Date goes by.
      if (isToCome && (waitMs <= HOUR_MS || (isDate && isMoved(transcript)))) return [];
      return [
        {
          exchange: one.id,
          pointer: '',
          expected: 'Retry-After: 1 second or more, an hour at most, or a date within that',
          received: one.response?.headers['retry-after'] ?? 'no such header',
        },
      ];
    },
    notJudged('not_observed', 'No trace request was put off.'),
  );
}

/** After the time of Retry-After, some of what is sent is taken. */
export function takesAgain(): Check {
  return {
    evidence: ({ exchanges }) =>
      exchanges.filter(
        (one) => isTraces(one) && AS_TOLD.includes(one.step) && one.response !== undefined,
      ),
    judge(evidence) {
      const steps = new Set(evidence.map(({ step }) => step));
      return [...steps].flatMap((step) => {
        const sent = evidence.filter((one) => one.step === step);
        const [first] = sent;
        if (!first || !sent.every(isRateLimited)) return [];
        return [wrongOutcome(first, 'no 429, after the time that Retry-After named')];
      });
    },
    unjudged: needsIntrusion(
      notJudged('not_observed', 'No 429 named a time that the kit could wait for.'),
    ),
  };
}
