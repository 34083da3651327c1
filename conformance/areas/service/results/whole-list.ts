/** The list of all sessions of the run's period, which other pages are compared with. */
import { formatValue, PAGE_LIMIT_MAX } from '../../../../src/contract/index.ts';
import type { Check, Finding } from '../../../engine/checks/check.ts';
import {
  describeOutcome,
  isRateLimited,
  type Exchange,
  type Transcript,
} from '../../../engine/transcript/reading.ts';
import { formatList } from '../../../../src/report-kit/format.ts';
import { CONFIGURE_EVALS, LESS_TRAFFIC } from '../findings.ts';
import { kindOf, type ResultsEndpoint, type ResultsObject } from '../results-api.ts';
import {
  hasControlApi,
  isCutOff,
  isResultsPage,
  isStep,
  lastAccepted,
  sessionsOf,
} from '../transcript.ts';
import { identify } from './evidence.ts';

/** The sessions of the run's period, as two reads list them: before and after all other reads. */
export interface WholeList {
  /** The first of the two reads. */
  page: Exchange;
  /** The sessions that both reads list with the same evals. */
  sessions: ResultsObject[];
  /** The identities of all other sessions: they appeared, disappeared, or changed in between. */
  changed: ReadonlySet<string>;
  /** Whether a session disappeared between the reads. */
  isShrinking: boolean;
}

const scoresOf = ({ outcome_summary: summary, eval_outcomes: outcomes }: ResultsObject): string =>
  JSON.stringify([summary, outcomes]);

/**
 * Returns the sessions that other pages are compared with. It is undefined if a read lists only some
 * of the sessions, or if no session stayed the same. Other conversations may be closed during the
 * run: only sessions that both reads list are required on other pages.
 */
export function findWholeList(
  transcript: Transcript,
  endpoint: ResultsEndpoint,
): WholeList | undefined {
  const page = lastAccepted(transcript, endpoint, 'whole');
  const again = lastAccepted(transcript, endpoint, 'whole again');
  if (!page || !again || !isResultsPage(endpoint)(page)) return undefined;
  if (isCutOff(page) || isCutOff(again)) return undefined;
  const known = wholeLists.get(page);
  if (known?.again === again) return known.whole;
  const whole = compareReads(page, again);
  wholeLists.set(page, { again, whole });
  return whole;
}

/** The list that two reads show, by the first of them: many requirements ask for it. */
const wholeLists = new WeakMap<Exchange, { again: Exchange; whole: WholeList | undefined }>();

function compareReads(page: Exchange, again: Exchange): WholeList | undefined {
  const later = new Map(sessionsOf(again).map((session) => [identify(session), session]));
  const first = sessionsOf(page).map((session) => [identify(session), session] as const);
  const isSame = ([identity, session]: (typeof first)[number]): boolean => {
    const other = later.get(identity);
    return other !== undefined && scoresOf(other) === scoresOf(session);
  };
  const same = new Set(first.filter(isSame).map(([identity]) => identity));
  const listed = [...first.map(([identity]) => identity), ...later.keys()];
  const changed = new Set(listed.filter((identity) => !same.has(identity)));
  if (same.size === 0 && changed.size > 0) return undefined;
  return {
    page,
    sessions: first.filter(([identity]) => same.has(identity)).map(([, session]) => session),
    changed,
    isShrinking: first.some(([identity]) => !later.has(identity)),
  };
}

/** Why no page could be compared with the list of all sessions. */
export const noWholeList =
  (endpoint: ResultsEndpoint): Check['unjudged'] =>
  (transcript) => ({ verdict: 'not_observed', ...explainNoWholeList(transcript, endpoint) });

const remedies = {
  production: CONFIGURE_EVALS,
  simulations: 'Use the key of an owner with simulation sessions, or serve the control API.',
} as const satisfies Record<ResultsEndpoint, string>;

function explainNoWholeList(
  transcript: Transcript,
  endpoint: ResultsEndpoint,
): { reason: string; remedy?: string } {
  const steps = ['whole', 'whole again'] as const;
  const pages = steps.flatMap((step) => lastAccepted(transcript, endpoint, step) ?? []);
  const kind = kindOf(endpoint);
  if (pages.some(isCutOff)) {
    return {
      reason: `More than ${PAGE_LIMIT_MAX} ${kind} sessions started in the period of the run, so no page lists all of them.`,
      remedy: LESS_TRAFFIC,
    };
  }
  const failed = transcript.exchanges.find(
    (read) =>
      isStep(read, endpoint, ...steps) && !isRateLimited(read) && !isResultsPage(endpoint)(read),
  );
  if (failed) {
    const outcome = `${describeOutcome(failed)} without a list (exchange ${failed.id})`;
    return { reason: `${readsTwice(kind)}, and one of the reads got ${outcome}.` };
  }
  if (pages.every((page) => sessionsOf(page).length === 0)) {
    return {
      reason: `The service listed no ${kind} session to compare with.`,
      // Otherwise the run has configured evals and seeded simulations itself.
      ...(!hasControlApi(transcript) && { remedy: remedies[endpoint] }),
    };
  }
  if (findWholeList(transcript, endpoint)) {
    return { reason: explainNoList(transcript, endpoint, kind) };
  }
  const [first, second] = pages;
  return first && second
    ? explainChanges(first, second, kind)
    : { reason: `${readsTwice(kind)}, and one of the reads was not sent.` };
}

const readsTwice = (kind: string): string =>
  `The run reads all ${kind} sessions twice to compare other pages with them`;

/** The most reads to name in a sentence. */
const NAMED_MAX = 4;

/** Says why there is nothing to compare with the list of all sessions: reads without a list, if there are any. */
function explainNoList({ exchanges }: Transcript, endpoint: ResultsEndpoint, kind: string): string {
  const unread = exchanges.filter(
    (exchange) =>
      exchange.endpoint === endpoint &&
      exchange.intent === 'valid' &&
      !isRateLimited(exchange) &&
      !isResultsPage(endpoint)(exchange),
  );
  const names = unread.map((read) => `${read.id} "${read.step}" (${describeOutcome(read)})`);
  return unread.length === 0
    ? `No listed ${kind} session shows whether the rule holds.`
    : `No read for this rule returned a list. Reads without a list: exchange ${formatList(names, NAMED_MAX)}.`;
}

/** Identifies a session by the fields that no read should change, without its `url`. */
const nameSession = (session: ResultsObject): string => {
  const { source_session_id: id, simulation, agent, scenario, persona, started_at: at } = session;
  return JSON.stringify(id === undefined ? [simulation, agent, scenario, persona, at] : [id]);
};

/** Says in which field the sessions of two reads differ, or that they are other sessions. */
function explainChanges(
  first: Exchange,
  second: Exchange,
  kind: string,
): { reason: string; remedy: string } {
  const reads = `exchanges ${first.id} and ${second.id}`;
  const later = new Map(sessionsOf(second).map((session) => [nameSession(session), session]));
  for (const session of sessionsOf(first)) {
    const other = later.get(nameSession(session));
    const field = other && comparedFields.find((name) => !isSameAt(name, session, other));
    if (!other || field === undefined) continue;
    const [was, is] = [formatValue(session[field]), formatValue(other[field])];
    const change = was === is ? 'changed' : `was ${was}, and then ${is}`;
    return {
      reason: `Two reads list no ${kind} session in the same way: \`${field}\` ${change} (${reads}).`,
      remedy: `Return the same \`${field}\` of a session in every read, unless it is scored in between.`,
    };
  }
  return {
    reason: `Two reads list no ${kind} session in common (${reads}).`,
    remedy:
      'Return the same sessions in every read. If others add or delete sessions, check while there is less traffic.',
  };
}

/** What identifies a session, and its scores. */
const comparedFields = [
  'url',
  'source_session_id',
  'simulation',
  'agent',
  'scenario',
  'started_at',
  'outcome_summary',
  'eval_outcomes',
] as const;

const isSameAt = (name: string, session: ResultsObject, other: ResultsObject): boolean =>
  JSON.stringify(session[name]) === JSON.stringify(other[name]);

/** Judges pages by comparison with the list of all sessions; without that list, there is no evidence. */
export function compareWithWhole(
  endpoint: ResultsEndpoint,
  isEvidence: (page: Exchange, whole: WholeList) => boolean,
  find: (page: Exchange, whole: WholeList, transcript: Transcript) => Finding[],
  unjudged: Check['unjudged'] = noWholeList(endpoint),
): Check {
  return {
    evidence(transcript) {
      const whole = findWholeList(transcript, endpoint);
      if (!whole) return [];
      return transcript.exchanges.filter(
        (page) => isResultsPage(endpoint)(page) && isEvidence(page, whole),
      );
    },
    judge(evidence, transcript) {
      const whole = findWholeList(transcript, endpoint);
      return whole ? evidence.flatMap((page) => find(page, whole, transcript)) : [];
    },
    unjudged,
  };
}
