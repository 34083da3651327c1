import type { SimulatedSessionReport } from '../../../contract/index.ts';

/** Lists why a session did not pass, and its notes; empty for a session without remarks. */
export function sessionReasons(session: SimulatedSessionReport): string[] {
  const { verdict, eval_outcomes: outcomes, errored_evals: errored, error, review } = session;
  const failed = outcomes
    .filter(({ outcome }) => outcome === 'fail')
    .map((outcome) => `${outcome.eval_name}${optionalSuffix(outcome)}: ${outcome.reasoning}`);
  const unscored = errored.map(
    ({ eval_name: name, reasoning }) => `${name}: not scored. ${reasoning}`,
  );
  const unjudged =
    verdict === 'undecided' && session.status === 'completed' && unscored.length === 0
      ? ['The scenario has no evals, so the session was not judged.']
      : [];
  const strayed = review.kept ? [] : review.findings.map(({ message }) => message);
  return [
    ...(error === undefined ? [] : [error]),
    ...(session.status === 'cancelled' ? ['Cancelled.'] : []),
    ...[...failed, ...unscored, ...unjudged, ...strayed],
    ...session.notes,
  ];
}

/** Groups sessions with the same verdict and reasons, in their order. */
export function groupAlike(
  sessions: readonly SimulatedSessionReport[],
): SimulatedSessionReport[][] {
  const keyOf = (session: SimulatedSessionReport): string =>
    JSON.stringify([session.verdict, session.status, session.end_reason, sessionReasons(session)]);
  return [...Map.groupBy(sessions, keyOf).values()];
}

/** Marks an eval that is not required and therefore never fails a session. */
const optionalSuffix = (outcome: Record<string, unknown>): string =>
  outcome['required'] === false ? ' (not required)' : '';
