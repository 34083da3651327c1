import type { SimulatedSessionReport } from '../../../contract/index.ts';

/** Lists why a session did not pass, where its user left the scenario, and its notes. */
export function listReasons(session: SimulatedSessionReport): string[] {
  const failed = session.eval_outcomes
    .filter(({ outcome }) => outcome === 'fail')
    .map((outcome) => `${outcome.eval_name}${formatOptionalMark(outcome)}: ${outcome.reasoning}`);
  return [...listInterruptions(session), ...failed, ...listRemarks(session)];
}

/** Lists the reasons of `listReasons` that are not outcomes of evals. */
export function listOtherReasons(session: SimulatedSessionReport): string[] {
  return [...listInterruptions(session), ...listRemarks(session)];
}

function listInterruptions({ error, status }: SimulatedSessionReport): string[] {
  return [
    ...(error === undefined ? [] : [error]),
    ...(status === 'cancelled' ? ['Canceled.'] : []),
  ];
}

function listRemarks(session: SimulatedSessionReport): string[] {
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

/** Describes how a session ended. Its status `failed` would read like the verdict. */
export function describeEnd({ status, end_reason: reason }: SimulatedSessionReport): string {
  if (status === 'completed') return `ended with ${reason}`;
  return status === 'failed' ? `stopped by ${reason}` : status;
}

/** Names a session by its scenario and, from the second sample on, its number: `late-parcel #2`. */
export const nameOf = ({ scenario_id: id, sample }: SimulatedSessionReport): string =>
  sample === 1 ? id : `${id} #${sample}`;

/** Groups sessions that have the same verdict and reasons, in the order of their first sessions. */
export function groupAlike(
  sessions: readonly SimulatedSessionReport[],
): SimulatedSessionReport[][] {
  const keyOf = (session: SimulatedSessionReport): string =>
    JSON.stringify([session.verdict, session.status, session.end_reason, listReasons(session)]);
  return [...Map.groupBy(sessions, keyOf).values()];
}

/** Groups the sessions that did not pass, with the most frequent reason first. */
export function groupUnpassed(
  sessions: readonly SimulatedSessionReport[],
): SimulatedSessionReport[][] {
  return groupAlike(sessions.filter(({ verdict }) => verdict !== 'passed')).sort(
    (left, right) => right.length - left.length,
  );
}

/** An eval that is not required never fails a session. */
const formatOptionalMark = (outcome: Record<string, unknown>): string =>
  outcome['required'] === false ? ' (not required)' : '';
