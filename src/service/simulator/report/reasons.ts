import type { SimulatedSessionReport } from '../../../contract/index.ts';

/** Lists why a session did not pass, where its user left the scenario, and its notes. */
export function listReasons(session: SimulatedSessionReport): string[] {
  const { verdict, eval_outcomes: outcomes, errored_evals: errored, error, review } = session;
  const failed = outcomes
    .filter(({ outcome }) => outcome === 'fail')
    .map((outcome) => `${outcome.eval_name}${formatOptionalMark(outcome)}: ${outcome.reasoning}`);
  const unscored = errored.map(
    ({ eval_name: name, reasoning }) => `${name}: not scored. ${reasoning}`,
  );
  const unjudged =
    verdict === 'undecided' && session.status === 'completed' && unscored.length === 0
      ? ['The scenario has no evals, so the session was not judged.']
      : [];
  const deviations = review.followed_scenario ? [] : review.findings.map(({ message }) => message);
  return [
    ...(error === undefined ? [] : [error]),
    ...(session.status === 'cancelled' ? ['Canceled.'] : []),
    ...[...failed, ...unscored, ...unjudged, ...deviations],
    ...session.notes,
  ];
}

/** Groups sessions that have the same verdict and reasons, in the order of their first sessions. */
export function groupAlike(
  sessions: readonly SimulatedSessionReport[],
): SimulatedSessionReport[][] {
  const keyOf = (session: SimulatedSessionReport): string =>
    JSON.stringify([session.verdict, session.status, session.end_reason, listReasons(session)]);
  return [...Map.groupBy(sessions, keyOf).values()];
}

/** An eval that is not required never fails a session. */
const formatOptionalMark = (outcome: Record<string, unknown>): string =>
  outcome['required'] === false ? ' (not required)' : '';
