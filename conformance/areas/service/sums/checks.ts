import { brief, valueAt } from '../../../../src/contract/index.ts';
import { instantMs } from '../../../../src/platform/clock.ts';
import type { serviceSumRequirements } from './requirements.ts';
import { notJudged, checkEach, type Check, type Finding } from '../../../engine/checks/check.ts';
import { eachItem } from '../results/filter-checks.ts';
import { noWhole, wrong } from '../results/page-checks.ts';
import {
  asked,
  chatsOf,
  conversationIdOf,
  countOf,
  hasControl,
  isPage,
  sessionsOf,
  lastOf,
  needsControl,
  resultsOf,
  seedOf,
  textIn,
  turnsOf,
  type Item,
  type Results,
} from '../reading.ts';
import { countsFit, noSessions, outcomesListed } from '../results/session-checks.ts';
import { seedOfItem } from '../results/time-checks.ts';
import { isObject } from '../../../../src/platform/json.ts';
import { type Exchange, type Transcript, isAccepted } from '../../../engine/transcript/reading.ts';

const queuedOf = (one: Exchange): unknown => valueAt(one.json, '/evaluations_queued');

/** How many evals are configured, where the run has configured them. */
function configured(transcript: Transcript): number | undefined {
  const ids = valueAt(seedOf(transcript, 'main'), '/settings/evals');
  return hasControl(transcript) && Array.isArray(ids) ? ids.length : undefined;
}

/** A close of which the results can tell whether it queued what it says. */
interface Queued {
  close: Exchange;
  queued: number;
  total: number;
}

/** First closes with what is listed; one that queued another number than is configured is told. */
function queuedAndListed(transcript: Transcript): Queued[] {
  const page = resultsOf(transcript);
  // What queued nothing, nobody waited for.
  const later = lastOf(transcript, 'production', 'whole again') ?? page;
  const wanted = configured(transcript);
  const closes = transcript.exchanges.filter(
    (one) => one.endpoint === 'end' && one.probe === 'service/conversations' && isAccepted(one),
  );
  return closes.flatMap((close) => {
    const id = conversationIdOf(close);
    const queued = queuedOf(close);
    const listed = queued === 0 ? later : page;
    const item = listed && sessionsOf(listed).find((one) => one['source_session_id'] === id);
    const total = item && countOf(item, 'total_evaluations');
    const isOnce = closes.filter((one) => conversationIdOf(one) === id).length === 1;
    if (typeof queued !== 'number' || total === undefined || !isOnce) return [];
    return wanted === undefined || wanted === queued ? [{ close, queued, total }] : [];
  });
}

/**
 * No conversation has more evaluations than its close queued, and not every one has less: one eval or
 * another may have come to nothing.
 */
function asManyAsQueued(): Check {
  return {
    evidence: (transcript) => queuedAndListed(transcript).map(({ close }) => close),
    judge(_evidence, transcript) {
      const all = queuedAndListed(transcript);
      const isLess = all.every(({ queued, total }) => total < queued);
      return all
        .filter(({ queued, total }) => isLess || total > queued)
        .map(({ close, total }) =>
          wrong(close, '/evaluations_queued', `${total}, as the results have of it`),
        );
    },
    unjudged: notJudged(
      'not_observed',
      'No closed conversation is listed that evals were queued for.',
    ),
  };
}

/** Rates are rounded, by some to one digit after the point. */
const ROUNDED = 0.051;

/** The rate that is shown is that of the counts; of those that came to nothing it is not said. */
function rateOfCounts(endpoint: Results): Check {
  const countsOf = (item: Item) => {
    const [total = 0, passed = 0, failed = 0] = [
      'total_evaluations',
      'passed_count',
      'failed_count',
    ].map((name) => countOf(item, name));
    return { total, passed, failed, rate: countOf(item, 'pass_rate') ?? -1 };
  };
  return eachItem(
    endpoint,
    (item) => {
      const { total, passed, failed, rate } = countsOf(item);
      return passed + failed > 0 && passed + failed <= total && rate >= 0 && rate <= 1;
    },
    (item) => {
      const { total, passed, failed, rate } = countsOf(item);
      const rates = [passed / total, passed / (passed + failed)];
      if (rates.some((right) => Math.abs(right - rate) <= ROUNDED)) return undefined;
      const expected = `${passed} of ${total}: ${Math.round((passed / total) * 100) / 100}`;
      return { place: '/outcome_summary/pass_rate', expected };
    },
    notJudged('not_observed', 'No session was listed that has evaluations.'),
  );
}

const numberOf = (turn: unknown): unknown => valueAt(turn, '/session_sequence');

/** Turns have whole numbers, each its own; of the run's own conversations their order is known. */
function numbered(
  endpoint: Results,
  saidIn: (item: Item, transcript: Transcript) => readonly (string | undefined)[],
): Check {
  const wholeNumbers = (item: Item): boolean =>
    turnsOf(item).every((turn) => isObject(turn) && Object.hasOwn(turn, 'session_sequence'));
  const fault = (item: Item, transcript: Transcript): string | undefined => {
    const numbers = turnsOf(item).map(numberOf);
    if (!numbers.every(Number.isInteger)) return 'a whole number for each turn';
    if (new Set(numbers).size < numbers.length) return 'a number of its own for each turn';
    const told = saidIn(item, transcript).map((text) =>
      turnsOf(item).find((turn) => valueAt(turn, '/user_input') === text),
    );
    if (told.includes(undefined)) return undefined;
    const inOrder = told.map((turn) => Number(numberOf(turn)));
    const isInOrder = inOrder.every(
      (one, index) => index === 0 || one > Number(inOrder[index - 1]),
    );
    return isInOrder ? undefined : 'numbers in the order in which it was said';
  };
  const hasTurns = (item: Item): boolean => turnsOf(item).length > 0 && wholeNumbers(item);
  return checkEach(
    (one) => isPage(endpoint)(one) && sessionsOf(one).some(hasTurns),
    (one, transcript) =>
      sessionsOf(one).flatMap((item, index) => {
        const expected = hasTurns(item) ? fault(item, transcript) : undefined;
        if (expected === undefined) return [];
        const received = brief(turnsOf(item).map(numberOf));
        return [wrong(one, `/items/${index}/traces`, expected, received)];
      }),
    notJudged('not_observed', 'No session was listed with turns.'),
  );
}

const sentTexts = (item: Item, transcript: Transcript): (string | undefined)[] => {
  const id = item['source_session_id'];
  return typeof id === 'string'
    ? chatsOf(id, transcript).map((span) => textIn(span, 'gen_ai.input.messages'))
    : [];
};

const seededTurns = (item: Item, transcript: Transcript): unknown[] =>
  hasControl(transcript) ? (seedOfItem(item, transcript)?.turns ?? []) : [];

const seededTexts = (item: Item, transcript: Transcript): (string | undefined)[] =>
  seededTurns(item, transcript).map((turn) => {
    const text = valueAt(turn, '/user_input');
    return typeof text === 'string' ? text : undefined;
  });

/** A second: times may be cut, or rounded. */
const PRECISION_MS = 1_000;

function endsAfterItStarts(endpoint: Results): Check {
  const timesOf = (item: Item): (number | undefined)[] =>
    ['started_at', 'ended_at'].map((key) => {
      const at = item[key];
      return typeof at === 'string' ? instantMs(at) : undefined;
    });
  return eachItem(
    endpoint,
    (item) => !timesOf(item).includes(undefined),
    (item) => {
      const [startMs = 0, endMs = 0] = timesOf(item);
      const expected = `no earlier than ${brief(item['started_at'])}`;
      return endMs >= startMs - PRECISION_MS ? undefined : { place: '/ended_at', expected };
    },
    notJudged('not_observed', 'No session was listed whose times can be compared.'),
  );
}

const wantsTraces = (one: Exchange): boolean => asked(one, 'include_traces') === 'true';

/** The turns of a seeded session are those that it was seeded with. */
function seededTurnsShown(): Check {
  const hasTraces = (item: Item): boolean => Array.isArray(item['traces']);
  const texts = (turns: readonly unknown[]): string[] =>
    turns.map((turn) =>
      brief(['user_input', 'agent_response'].map((key) => valueAt(turn, `/${key}`))),
    );
  return checkEach(
    (one, transcript) =>
      isPage('simulations')(one) &&
      wantsTraces(one) &&
      sessionsOf(one).some((item) => hasTraces(item) && seededTurns(item, transcript).length > 0),
    (one, transcript) =>
      sessionsOf(one).flatMap((item, index): Finding[] => {
        const wanted = texts(seededTurns(item, transcript));
        if (wanted.length === 0 || !hasTraces(item)) return [];
        const got = texts(turnsOf(item));
        if (got.length === wanted.length && wanted.every((text) => got.includes(text))) return [];
        const says = got.length === wanted.length ? 'those' : 'the';
        const expected = `${says} ${wanted.length} turns of the session`;
        return [wrong(one, `/items/${index}/traces`, expected, brief(got))];
      }),
    needsControl(noWhole),
  );
}

/** Of sessions that evals could judge, something was said in one at least. */
function someTurnsShown(): Check {
  const scored = (page: Exchange): Item[] =>
    sessionsOf(page).filter(
      (item) => (countOf(item, 'total_evaluations') ?? 0) > 0 && Array.isArray(item['traces']),
    );
  return checkEach(
    (one) => isPage('simulations')(one) && wantsTraces(one) && scored(one).length > 0,
    (one) =>
      scored(one).some((item) => turnsOf(item).length > 0)
        ? []
        : [wrong(one, '/items', 'turns in the sessions that were scored', '[] in each of them')],
    noSessions,
  );
}

/** The checks of how things go together, one for each requirement. */
export const serviceSumChecks = {
  'SERVICE-122': asManyAsQueued(),
  'SERVICE-123': rateOfCounts('production'),
  'SERVICE-124': numbered('production', sentTexts),
  'SERVICE-125': endsAfterItStarts('production'),
  'SERVICE-157': countsFit('simulations'),
  'SERVICE-158': outcomesListed('simulations'),
  'SERVICE-159': rateOfCounts('simulations'),
  'SERVICE-160': numbered('simulations', seededTexts),
  'SERVICE-161': endsAfterItStarts('simulations'),
  'SERVICE-162': seededTurnsShown(),
  'SERVICE-163': someTurnsShown(),
} satisfies Record<keyof typeof serviceSumRequirements, Check>;
