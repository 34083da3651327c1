import type { EndReason, SimulatedSessionReport } from '../../contract/index.ts';
import { decideVerdict } from '../sessions/verdict.ts';
import type { Session, SessionStatus, Verdict } from '../store/store.ts';

/** The part of a session that explains its verdict. A `SimulatedSessionReport` has it. */
export interface ExplainedSession {
  verdict: Verdict;
  status: SessionStatus;
  /** Empty if it is unknown. */
  end_reason: string;
  error?: string;
  eval_outcomes: readonly {
    eval_name: string;
    outcome: string;
    reasoning: string;
    /** What goes wrong for the user if the eval fails. */
    reason?: string;
    required?: unknown;
  }[];
  errored_evals: readonly { eval_name: string; reasoning: string }[];
  review: { followed_scenario: boolean; findings: readonly { message: string }[] };
  notes: readonly string[];
}

/** Returns the part of a stored session that explains its verdict. */
export function explainSession(session: Session): ExplainedSession {
  const { error, review, notes } = session.simulated ?? {};
  const ofOutcome = session.outcomes.map(({ evalName, outcome, reasoning, required }) => ({
    eval_name: evalName,
    outcome,
    reasoning,
    required,
  }));
  return {
    verdict: decideVerdict(session),
    status: session.status,
    end_reason: session.endReason ?? '',
    ...(error !== undefined && { error }),
    eval_outcomes: ofOutcome.filter(({ outcome }) => outcome !== 'error'),
    errored_evals: ofOutcome.filter(({ outcome }) => outcome === 'error'),
    review: review ?? { followed_scenario: true, findings: [] },
    notes: notes ?? [],
  };
}

/** Lists why a session did not pass, where its user left the scenario, and its notes. */
export function listReasons(session: ExplainedSession): string[] {
  const failed = session.eval_outcomes
    .filter(({ outcome }) => outcome === 'fail')
    .map((outcome) => {
      const { eval_name: name, reasoning, reason } = outcome;
      const why = reason === undefined ? '' : ` Why it matters: ${reason}`;
      return `${name}${formatOptionalMark(outcome)}: ${reasoning}${why}`;
    });
  return [...listInterruptions(session), ...failed, ...listRemarks(session)];
}

/** Lists the reasons of `listReasons` that are not outcomes of evals. */
export function listOtherReasons(session: ExplainedSession): string[] {
  return [...listInterruptions(session), ...listRemarks(session)];
}

function listInterruptions({ error, status }: ExplainedSession): string[] {
  return [...(error === undefined ? [] : [error]), ...(status === 'canceled' ? ['Canceled.'] : [])];
}

function listRemarks(session: ExplainedSession): string[] {
  const { verdict, status, errored_evals: errored, review, notes } = session;
  const unscored = errored.map(
    ({ eval_name: name, reasoning }) => `${name}: not scored. ${reasoning}`,
  );
  const unjudged =
    verdict === 'undecided' && status === 'completed' && unscored.length === 0
      ? ['The scenario has no evals, so the session was not judged.']
      : [];
  const deviations = review.followed_scenario ? [] : review.findings.map(({ message }) => message);
  return [...unscored, ...unjudged, ...deviations, ...notes];
}

/** How people read why a session ended. It says nothing about the verdict. */
const END_WORDS: Readonly<Record<EndReason, string>> = {
  goal_achieved: 'the user was done',
  user_stop: 'the user left',
  agent_ended: 'the agent ended it',
  max_turns: 'limit of turns reached',
  timeout: 'time limit reached',
  agent_error: 'error of the agent',
  simulator_error: 'error of the simulated user',
  infrastructure_error: 'problem with the sandbox',
  canceled: 'canceled',
};

/** Returns an end reason as people read it. Seeded sessions can have any. */
export const nameEnd = (reason: string): string =>
  Object.hasOwn(END_WORDS, reason) ? END_WORDS[reason as EndReason] : reason.replaceAll('_', ' ');

/** Describes how a session ended. */
export function describeEnd({
  status,
  end_reason: reason,
}: Pick<ExplainedSession, 'status' | 'end_reason'>): string {
  if (reason === '') return STATUS_WORDS[status];
  if (status === 'completed') return `conversation ended: ${nameEnd(reason)}`;
  return status === 'failed' ? `stopped: ${nameEnd(reason)}` : STATUS_WORDS[status];
}

/** How pages and reports name a status. The status `failed` would read like the verdict. */
export const STATUS_WORDS: Readonly<Record<SessionStatus, string>> = {
  pending: 'not started',
  running: 'running',
  evaluating: 'being scored',
  completed: 'completed',
  failed: 'not completed',
  canceled: 'canceled',
};

/** Names a session by its scenario and, from the second sample on, its number: `late-parcel #2`. */
export const nameOf = ({ scenario_id: id, sample }: SimulatedSessionReport): string =>
  sample === 1 ? id : `${id} #${sample}`;

/**
 * Returns whether an error stopped the session: then its evals and its review do not say why it did
 * not pass.
 */
export const isStopped = ({ error, status }: ExplainedSession): boolean =>
  error !== undefined && status !== 'completed';

/**
 * Groups sessions that have the same verdict and reasons, in the order of their first sessions. Sessions
 * that the same error stopped are alike, whichever evals their scenarios have.
 */
export function groupAlike<Item extends ExplainedSession>(sessions: readonly Item[]): Item[][] {
  const keyOf = (session: Item): string => {
    const reasons = isStopped(session) ? listInterruptions(session) : listReasons(session);
    return JSON.stringify([session.verdict, session.status, session.end_reason, reasons]);
  };
  return [...Map.groupBy(sessions, keyOf).values()];
}

/** Lists the reasons that all sessions of a group of `groupAlike` have. */
export function listSharedReasons(group: readonly ExplainedSession[]): string[] {
  const [first, ...others] = group.map(listReasons);
  return (first ?? []).filter((reason) => others.every((reasons) => reasons.includes(reason)));
}

/** Groups the sessions that did not pass, with the most frequent reason first. */
export function groupUnpassed<Item extends ExplainedSession>(sessions: readonly Item[]): Item[][] {
  return groupAlike(sessions.filter(({ verdict }) => verdict !== 'passed')).sort(
    (left, right) => right.length - left.length,
  );
}

/** An eval that is not required never fails a session. */
const formatOptionalMark = ({ required }: { required?: unknown }): string =>
  required === false ? ' (not required)' : '';
