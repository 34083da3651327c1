/** The list of all sessions of the run's period, to which other pages are compared. */
import { PAGE_LIMIT_MAX } from '../../../../src/contract/index.ts';
import type { Check, Finding } from '../../../engine/checks/check.ts';
import type { Exchange, Transcript } from '../../../engine/transcript/reading.ts';
import { CONFIGURE_EVALS } from '../findings.ts';
import type { ResultsEndpoint, ResultsObject } from '../results-api.ts';
import { hasControlApi, isCutOff, isResultsPage, lastAccepted, sessionsOf } from '../transcript.ts';
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
 * Returns the sessions to which other pages are compared. It is undefined if a read lists only some
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
  const pages = (['whole', 'whole again'] as const).flatMap(
    (step) => lastAccepted(transcript, endpoint, step) ?? [],
  );
  const kind = endpoint === 'production' ? 'production' : 'simulation';
  if (pages.some(isCutOff)) {
    return {
      reason: `More than ${PAGE_LIMIT_MAX} ${kind} sessions started in the period of the run, so no page lists all of them.`,
      remedy: 'Check while there is less traffic, or use a key of another owner.',
    };
  }
  if (pages.every((page) => sessionsOf(page).length === 0)) {
    return {
      reason: `The service listed no ${kind} session to compare with.`,
      // Otherwise the run has configured evals and seeded simulations itself.
      ...(!hasControlApi(transcript) && { remedy: remedies[endpoint] }),
    };
  }
  return {
    reason: `Every listed ${kind} session changed during the run.`,
    remedy: 'Check while there is less traffic, or use a key of another owner.',
  };
}

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
