import { brief, valueAt } from '../../../../src/contract/index.ts';
import { notJudged, checkEach, type Check, type Finding } from '../../../engine/checks/check.ts';
import { identity, noWhole, wholeOf, wrong } from './page-checks.ts';
import {
  asked,
  countOf,
  hasControl,
  isPage,
  sessionsOf,
  needsControl,
  seedOf,
  type Item,
  type Results,
} from '../reading.ts';
import { isObject } from '../../../../src/platform/json.ts';
import { type Exchange, type Transcript } from '../../../engine/transcript/reading.ts';

/** Whether a session is one that a filtered page must list; either way where that is not known. */
export type Wanted = (item: Item, page: Exchange, transcript: Transcript) => boolean | 'either';

/** Pages of some steps must list exactly the sessions of the whole that are wanted. */
export function filtered(endpoint: Results, steps: readonly string[], wanted: Wanted): Check {
  return {
    evidence: (transcript) => {
      const whole = wholeOf(transcript, endpoint);
      return whole && sessionsOf(whole).length > 0 ? stepsOf(transcript, endpoint, steps) : [];
    },
    judge: (evidence, transcript) => {
      const whole = wholeOf(transcript, endpoint);
      return whole ? evidence.flatMap((page) => compared(page, whole, wanted, transcript)) : [];
    },
    unjudged: noWhole,
  };
}

const stepsOf = (
  { exchanges }: Transcript,
  endpoint: Results,
  steps: readonly string[],
): Exchange[] => exchanges.filter((one) => isPage(endpoint)(one) && steps.includes(one.step));

function compared(
  page: Exchange,
  whole: Exchange,
  wanted: Wanted,
  transcript: Transcript,
): Finding[] {
  const isWanted = new Map(
    sessionsOf(whole).map((item) => [identity(item), wanted(item, page, transcript)]),
  );
  const got = new Set(sessionsOf(page).map(identity));
  const right = new Set([...isWanted].filter(([, is]) => is === true).map(([name]) => name));
  const lacks = [...right].filter((name) => !got.has(name));
  const extra = [...got].filter((name) => !(isWanted.get(name) ?? false));
  if (lacks.length + extra.length === 0) return [];
  const says = `${right.size} of the ${sessionsOf(whole).length} sessions`;
  const first = lacks[0] === undefined ? `also ${extra[0] ?? ''}` : `not ${lacks[0]}`;
  return [wrong(page, '/items', says, `${got.size}, ${first}`)];
}

const contains = (value: unknown, part: string | undefined): boolean =>
  typeof value === 'string' &&
  part !== undefined &&
  value.toLowerCase().includes(part.toLowerCase());

/** The name of the run of a session contains what was asked for. */
export const runNamed: Wanted = (item, page) => contains(item['run'], asked(page, 'run'));

/**
 * The agent of a session has what was asked for in its name or URL. Of an agent whose URL is not
 * known, either all sessions are wanted or none.
 */
export const ofAgent: Wanted = (item, page, transcript) => {
  const part = asked(page, 'agent');
  const { agent } = item;
  if (contains(agent, part)) return true;
  const url = agentUrls(transcript).get(agent);
  if (url !== undefined) return contains(url, part);
  // No URL that can be read holds this one as it is.
  if (part?.includes('%')) return false;
  const whole = wholeOf(transcript, 'simulations');
  const ofSame = (one: Exchange): Item[] =>
    sessionsOf(one).filter((other) => other['agent'] === agent);
  return whole && ofSame(page).length === ofSame(whole).length ? 'either' : false;
};

/** The URLs of the agents that the run has set up, by their names. */
function agentUrls(transcript: Transcript): Map<unknown, unknown> {
  const agents = hasControl(transcript) && valueAt(seedOf(transcript, 'main'), '/agents');
  return new Map(
    (Array.isArray(agents) ? agents : []).map((one) => [
      valueAt(one, '/name'),
      valueAt(one, '/url'),
    ]),
  );
}

/** The steps by which a filter is read, of a name or of evals; see the scenario's words. */
export const stepsBy = (name: 'run' | 'agent' | 'eval'): readonly string[] => [
  name,
  `${name} none`,
  ...WILDCARDS.map((wildcard) => `${name} with ${wildcard}`),
  ...(name === 'run' ? ['run by session id'] : []),
  ...(name === 'agent' ? ['agent by scenario'] : []),
];

/** What stands for any text or character in the patterns that filters are made with. */
const WILDCARDS = ['%', '_', '.'];

/** An eval scored the session whose name contains what was asked for. */
export const scoredBy: Wanted = (item, page) => {
  const { eval_outcomes: outcomes } = item;
  return (
    Array.isArray(outcomes) &&
    outcomes.some((outcome) => contains(valueAt(outcome, '/eval_name'), asked(page, 'eval')))
  );
};

/** The session has a failing eval. */
export const hasFailed: Wanted = (item) => (countOf(item, 'failed_count') ?? 0) > 0;

const isFailedOnly =
  (endpoint: Results) =>
  (one: Exchange): boolean =>
    isPage(endpoint)(one) && asked(one, 'failed_only') === 'true' && sessionsOf(one).length > 0;

const noneFailed = notJudged('not_observed', 'No failing session was listed.');

/** With failed_only the outcomes are the failing ones. */
export function failingOutcomes(endpoint: Results): Check {
  return checkEach(
    isFailedOnly(endpoint),
    (page) =>
      sessionsOf(page).flatMap((item, index): Finding[] => {
        const { eval_outcomes: outcomes } = item;
        const failed = countOf(item, 'failed_count');
        const place = `/items/${index}/eval_outcomes`;
        if (!Array.isArray(outcomes) || failed === undefined) return [];
        if (outcomes.length !== failed) {
          return [wrong(page, place, `${failed} outcomes`, String(outcomes.length))];
        }
        const passed = outcomes.some((outcome) => valueAt(outcome, '/outcome') === 'pass');
        return passed ? [wrong(page, place, 'failing outcomes alone', 'a passed one')] : [];
      }),
    noneFailed,
  );
}

/** The summary does not depend on failed_only. */
export function wholeSummaries(endpoint: Results): Check {
  return {
    evidence: (transcript) =>
      wholeOf(transcript, endpoint) ? transcript.exchanges.filter(isFailedOnly(endpoint)) : [],
    judge(evidence, transcript) {
      const whole = wholeOf(transcript, endpoint);
      const summaries = new Map(
        (whole ? sessionsOf(whole) : []).map((item) => [identity(item), summaryOf(item)]),
      );
      return evidence.flatMap((page) =>
        sessionsOf(page).flatMap((item, index): Finding[] => {
          const expected = summaries.get(identity(item));
          if (expected === undefined || expected === summaryOf(item)) return [];
          return [wrong(page, `/items/${index}/outcome_summary`, expected)];
        }),
      );
    },
    unjudged: noneFailed,
  };
}

function summaryOf(item: Item): string {
  const counts = ['total_evaluations', 'passed_count', 'failed_count', 'pass_rate'] as const;
  return counts.map((name) => `${name} ${countOf(item, name)}`).join(', ');
}

/** With failed_only the total is of failing sessions; a list that is wrong is judged elsewhere. */
export function failingTotal(endpoint: Results): Check {
  return {
    evidence: (transcript) =>
      wholeOf(transcript, endpoint)
        ? stepsOf(transcript, endpoint, ['failed only']).filter(
            ({ json }) => typeof valueAt(json, '/total') === 'number',
          )
        : [],
    judge(evidence, transcript) {
      const whole = wholeOf(transcript, endpoint);
      const count = (whole ? sessionsOf(whole) : []).filter(
        (item) => (countOf(item, 'failed_count') ?? 0) > 0,
      ).length;
      return evidence
        .filter(({ json }) => valueAt(json, '/total') !== count)
        .map((page) => wrong(page, '/total', String(count)));
    },
    unjudged: noWhole,
  };
}

/** A page of another owner lists none of the sessions of the run. */
export function othersUnseen(endpoint: Results): Check {
  return checkEach(
    (one, transcript) =>
      isPage(endpoint)(one) &&
      one.step === 'another owner' &&
      wholeOf(transcript, endpoint) !== undefined,
    (one, transcript) => {
      const whole = wholeOf(transcript, endpoint);
      const own = new Set((whole ? sessionsOf(whole) : []).map(identity));
      const seen = sessionsOf(one).filter((item) => own.has(identity(item)));
      return seen.length === 0
        ? []
        : [wrong(one, '/items', 'no session of another owner', brief(seen[0]?.['url']))];
    },
    needsControl(noWhole),
  );
}

/** Places of each session that must hold for the listing as a whole. */
export function eachItem(
  endpoint: Results,
  on: (item: Item, page: Exchange) => boolean,
  find: (item: Item) => { place: string; expected: string } | undefined,
  unjudged: Check['unjudged'],
): Check {
  return checkEach(
    (one) =>
      isPage(endpoint)(one) && sessionsOf(one).some((item) => isObject(item) && on(item, one)),
    (one) =>
      sessionsOf(one).flatMap((item, index) => {
        const fault = on(item, one) ? find(item) : undefined;
        return fault ? [wrong(one, `/items/${index}${fault.place}`, fault.expected)] : [];
      }),
    unjudged,
  );
}
