import { brief, pageLimitDefault, pageLimitMax, valueAt } from '../../../../src/contract/index.ts';
import { answered } from '../../../engine/checks/responses.ts';
import {
  notJudged,
  checkEach,
  noValidResponse,
  wrongOutcome,
  type Check,
  type Finding,
} from '../../../engine/checks/check.ts';
import { asked, isPage, sessionsOf, lastOf, startMs, type Item, type Results } from '../reading.ts';
import { isObject } from '../../../../src/platform/json.ts';
import { type Exchange, type Transcript, isAccepted } from '../../../engine/transcript/reading.ts';

const OVER_CAP = 'over the cap';

/** A read is answered; what is over the cap is judged by itself. */
export function readAnswered(endpoint: Results): Check {
  return answered(endpoint, (step) => step !== OVER_CAP, noValidResponse(endpoint));
}

/** The four parts of a page (spec 2.6). */
export function envelope(endpoint: Results): Check {
  const isCount = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0;
  return checkEach(
    (one) =>
      one.endpoint === endpoint && one.intent === 'valid' && isAccepted(one) && isObject(one.json),
    (one) => [
      ...(Array.isArray(valueAt(one.json, '/items')) ? [] : [wrong(one, '/items', 'an array')]),
      ...['/total', '/skip', '/limit']
        .filter((place) => !isCount(valueAt(one.json, place)))
        .map((place) => wrong(one, place, 'an integer, 0 or more')),
    ],
    noValidResponse(endpoint),
  );
}

/** A finding about a value of a page. */
export function wrong(
  one: Exchange,
  pointer: string,
  expected: string,
  received?: string,
): Finding {
  return {
    exchange: one.id,
    pointer,
    expected,
    received: received ?? brief(valueAt(one.json, pointer)),
  };
}

/** Whether a value is the number; where it is none, the envelope is what is wrong. */
const isOther = (value: unknown, number: number): boolean =>
  typeof value === 'number' && value !== number;

/** What holds of a page when neither limit nor skip is given. */
export function defaults(endpoint: Results): Check {
  const isPlain = isPage(endpoint);
  return checkEach(
    (one) =>
      isPlain(one) &&
      one.intent === 'valid' &&
      asked(one, 'limit') === undefined &&
      asked(one, 'skip') === undefined,
    (one) => [
      ...(isOther(valueAt(one.json, '/limit'), pageLimitDefault)
        ? [wrong(one, '/limit', String(pageLimitDefault))]
        : []),
      ...(isOther(valueAt(one.json, '/skip'), 0) ? [wrong(one, '/skip', '0')] : []),
      ...tooMany(one, pageLimitDefault),
    ],
    noValidResponse(endpoint),
  );
}

function tooMany(one: Exchange, max: number): Finding[] {
  const { length } = sessionsOf(one);
  return length <= max ? [] : [wrong(one, '/items', `${max} at most`, String(length))];
}

/** A limit over 500 is lowered, not refused; which limit is then echoed is not said. */
export function capped(endpoint: Results): Check {
  return checkEach(
    (one) => one.endpoint === endpoint && one.step === OVER_CAP && one.response !== undefined,
    (one) =>
      isAccepted(one) && isObject(one.json)
        ? tooMany(one, pageLimitMax)
        : [wrongOutcome(one, 'a 2xx answer with 500 sessions at most')],
    noValidResponse(endpoint),
  );
}

/** The page is as long as was asked for, and begins where it was asked to. */
export function windowed(endpoint: Results): Check {
  const isOf = isPage(endpoint);
  return checkEach(
    (one) =>
      isOf(one) &&
      one.intent === 'valid' &&
      one.step !== OVER_CAP &&
      asked(one, 'limit') !== undefined,
    (one) => {
      const limit = Number(asked(one, 'limit'));
      const skip = Number(asked(one, 'skip') ?? 0);
      return [
        ...(isOther(valueAt(one.json, '/limit'), limit)
          ? [wrong(one, '/limit', String(limit))]
          : []),
        ...(isOther(valueAt(one.json, '/skip'), skip) ? [wrong(one, '/skip', String(skip))] : []),
        ...tooMany(one, limit),
      ];
    },
    noValidResponse(endpoint),
  );
}

/** What tells one session from another, whatever else of it is shown. */
export function identity(item: Item): string {
  const { url, source_session_id: id, simulation, agent, scenario, started_at: at } = item;
  return JSON.stringify([url ?? null, id ?? null, simulation, agent, scenario, at]);
}

/** All sessions of the window of the run, where nothing came or went while it was read. */
export function wholeOf(transcript: Transcript, endpoint: Results): Exchange | undefined {
  const whole = lastOf(transcript, endpoint, 'whole');
  const again = lastOf(transcript, endpoint, 'whole again');
  if (!whole || !again || !isPage(endpoint)(whole)) return undefined;
  const names = (page: Exchange): string => sessionsOf(page).map(identity).sort().join();
  const total = valueAt(whole.json, '/total');
  const isComplete = typeof total !== 'number' || sessionsOf(whole).length >= Math.min(total, 500);
  return names(whole) === names(again) && isComplete ? whole : undefined;
}

/** Why a filter or a page was not compared with the whole. */
export const noWhole = notJudged(
  'not_observed',
  'There was nothing to compare with: no sessions, or others came and went meanwhile.',
);

/** Pages one after the other give the whole, each session once. */
export function paged(endpoint: Results): Check {
  const pagesOf = ({ exchanges }: Transcript): Exchange[] =>
    exchanges.filter((one) => isPage(endpoint)(one) && one.step === 'page');
  return {
    evidence(transcript) {
      const whole = wholeOf(transcript, endpoint);
      return whole && sessionsOf(whole).length > 1 ? pagesOf(transcript) : [];
    },
    judge(evidence, transcript) {
      const whole = wholeOf(transcript, endpoint);
      const [first] = evidence;
      if (!whole || !first) return [];
      const expected = sessionsOf(whole).map(identity).sort();
      const got = evidence.flatMap(sessionsOf).map(identity).sort();
      const totals = new Set(
        [whole, ...evidence]
          .map(({ json }) => valueAt(json, '/total'))
          .filter((total) => typeof total === 'number'),
      );
      const says = `${expected.length} sessions on ${evidence.length} pages, each once`;
      const isSame = expected.join() === got.join();
      return [
        ...(isSame ? [] : [wrong(first, '/items', says, countsOf(got))]),
        ...(totals.size < 2 && isTotal(whole, expected.length)
          ? []
          : [wrong(first, '/total', `${expected.length} on every page`, [...totals].join(', '))]),
      ];
    },
    unjudged: noWhole,
  };
}

function isTotal(whole: Exchange, count: number): boolean {
  const total = valueAt(whole.json, '/total');
  return count >= pageLimitMax || !Number.isInteger(total) || total === count;
}

const countsOf = (names: string[]): string =>
  `${names.length} sessions, ${new Set(names).size} of them different`;

const HOUR_MS = 3_600_000;

/**
 * Sessions that are an hour apart come in order. By which of its times "newest" goes is not said, so
 * that sessions that overlap may come in any.
 */
export function newestFirst(endpoint: Results): Check {
  const isOf = isPage(endpoint);
  return checkEach(
    (one) =>
      isOf(one) && one.intent === 'valid' && startsOf(one).some((ms) => ms < latest(one) - HOUR_MS),
    (one) => {
      const starts = startsOf(one);
      const at = starts.findIndex((ms, index) =>
        starts.slice(index + 1).some((later) => later > ms + HOUR_MS),
      );
      return at < 0 ? [] : [wrong(one, `/items/${at}/started_at`, 'nothing newer after it')];
    },
    notJudged('not_observed', 'No page has sessions that are an hour apart.'),
  );
}

const startsOf = (page: Exchange): number[] =>
  sessionsOf(page).flatMap((item) => startMs(item) ?? []);
const latest = (page: Exchange): number => Math.max(...startsOf(page));
