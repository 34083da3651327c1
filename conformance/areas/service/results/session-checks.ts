import { brief, valueAt, type MessageName } from '../../../../src/contract/index.ts';
import { notJudged, checkEach, type Check, type Finding } from '../../../engine/checks/check.ts';
import { eachItem } from './filter-checks.ts';
import { wrong } from './page-checks.ts';
import {
  asked,
  countOf,
  isPage,
  sessionsOf,
  turnsOf,
  type Item,
  type Results,
} from '../reading.ts';
import { shape } from '../../../engine/checks/shape.ts';
import { isObject } from '../../../../src/platform/json.ts';
import { type Exchange } from '../../../engine/transcript/reading.ts';

/** Why nothing was seen of sessions. */
export const noSessions = notJudged('not_observed', 'No session was listed.');

const messageOf: Record<Results, MessageName> = {
  production: 'ProductionSessionPage',
  simulations: 'SimulationSessionPage',
};

/** Places of each session, held against the schema. */
export function itemField(endpoint: Results, ...places: string[]): Check {
  return shape({
    message: messageOf[endpoint],
    answers: isPage(endpoint),
    at: places.map((place) => `/items/*${place}`),
    absent: noSessions,
  });
}

const SUMMARY = ['total_evaluations', 'passed_count', 'failed_count', 'pass_rate'];
const OUTCOME = ['eval_name', 'eval_category', 'eval_type', 'outcome', 'reasoning'];

/** `outcome_summary` and all that it must hold. */
export const summaryField = (endpoint: Results): Check =>
  itemField(endpoint, '/outcome_summary', ...SUMMARY.map((name) => `/outcome_summary/${name}`));

/** `eval_outcomes` and all that each must hold. */
export const outcomesField = (endpoint: Results): Check =>
  itemField(
    endpoint,
    '/eval_outcomes',
    '/eval_outcomes/*',
    ...OUTCOME.map((name) => `/eval_outcomes/*/${name}`),
  );

const wantsTraces = (value: string | undefined): boolean => value === 'true';

/** Turns are left out where nobody asked for them. */
export function tracesAbsent(endpoint: Results): Check {
  return eachItem(
    endpoint,
    (_item, page) => !wantsTraces(asked(page, 'include_traces')),
    (item) =>
      Object.hasOwn(item, 'traces') ? { place: '/traces', expected: 'absent' } : undefined,
    noSessions,
  );
}

/** Turns are there where somebody asked for them, each with its keys; their types are not said. */
export function tracesPresent(endpoint: Results, keys: readonly string[]): Check {
  const isWhole = (turn: unknown): boolean =>
    isObject(turn) && keys.every((key) => Object.hasOwn(turn, key));
  return eachItem(
    endpoint,
    (_item, page) => wantsTraces(asked(page, 'include_traces')),
    (item) =>
      Array.isArray(item['traces']) && turnsOf(item).every(isWhole)
        ? undefined
        : { place: '/traces', expected: `turns with ${keys.join(', ')}` },
    noSessions,
  );
}

/** A link that leads to a session, where it is a string: absolute, and no other session's. */
export function linkShape(endpoint: Results, page: string): Check {
  const link = new RegExp(`^https?://[^\\s?]+/${page}/[^/?#\\s]+\\?sessionId=[^&#\\s]+$`, 'i');
  const judged = eachItem(
    endpoint,
    ({ url }) => typeof url === 'string',
    ({ url }) =>
      link.test(String(url))
        ? undefined
        : { place: '/url', expected: `{app_url}/${page}/ID?sessionId=ID, with https:// before it` },
    notJudged('not_observed', 'No session has a link.'),
  );
  return {
    ...judged,
    judge: (evidence, transcript) => {
      const misshapen = judged.judge(evidence, transcript);
      return misshapen.length > 0 ? misshapen : evidence.flatMap(toOthers);
    },
  };
}

/** How many sessions must say the same id, that it can't be by chance in simulations of one each. */
const SAME_IDS_MIN = 3;

/** Links of a page that can't lead to the session, since they lead to others as well. */
function toOthers(page: Exchange): Finding[] {
  const linked = sessionsOf(page).filter(({ url }) => typeof url === 'string');
  const byLink = new Map<unknown, string>();
  for (const item of linked) {
    const [{ url }, whole] = [item, JSON.stringify(item)];
    // One that is listed twice over is wrong for another reason.
    if ((byLink.get(url) ?? whole) !== whole) {
      return [wrong(page, '/items', 'a link of its own for each session', brief(url))];
    }
    byLink.set(url, whole);
  }
  const ids = [...byLink.keys()].map((url) => /sessionId=(.*)$/.exec(String(url))?.[1]);
  if (ids.length < SAME_IDS_MIN || new Set(ids).size > 1) return [];
  return [wrong(page, '/items', 'the id of the session in each link', `sessionId=${ids[0] ?? ''}`)];
}

const hasCounts = (item: Item): boolean =>
  SUMMARY.every((name) => countOf(item, name) !== undefined);

/** Passed and failed evaluations are no more than all. */
export function countsFit(endpoint: Results): Check {
  return eachItem(
    endpoint,
    hasCounts,
    (item) => {
      const counted = (countOf(item, 'passed_count') ?? 0) + (countOf(item, 'failed_count') ?? 0);
      const total = countOf(item, 'total_evaluations') ?? 0;
      const expected = `${total} passed and failed at most`;
      return counted <= total ? undefined : { place: '/outcome_summary', expected };
    },
    noSessions,
  );
}

/** As many outcomes are listed as were evaluated, unless failed_only asks for less. */
export function outcomesListed(endpoint: Results): Check {
  return eachItem(
    endpoint,
    (item, page) =>
      asked(page, 'failed_only') === undefined &&
      // Whether a filter by eval narrows what is listed is not said.
      asked(page, 'eval') === undefined &&
      Array.isArray(item['eval_outcomes']) &&
      hasCounts(item),
    (item) => {
      const { eval_outcomes: outcomes } = item;
      const total = countOf(item, 'total_evaluations');
      return Array.isArray(outcomes) && outcomes.length === total
        ? undefined
        : { place: '/eval_outcomes', expected: `${total} outcomes` };
    },
    noSessions,
  );
}

/** A value that was observed; others are recorded. */
export function observed(
  endpoint: Results,
  place: string,
  is: (value: unknown) => boolean,
  expected: string,
): Check {
  return checkEach(
    (one) =>
      isPage(endpoint)(one) && sessionsOf(one).some((item) => valueAt(item, place) !== undefined),
    (one) => {
      const index = sessionsOf(one).findIndex(
        (item) => valueAt(item, place) !== undefined && !is(valueAt(item, place)),
      );
      if (index < 0) return [];
      const received = brief(valueAt(sessionsOf(one)[index], place));
      return [wrong(one, `/items/${index}${place}`, expected, received)];
    },
    noSessions,
  );
}
