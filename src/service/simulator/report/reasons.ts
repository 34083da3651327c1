import type { SimulatedSessionReport } from '../../../contract/index.ts';

/** Why a session did not pass, and what else is to be known of it; nothing for one that is fine. */
export function reasonsOf(session: SimulatedSessionReport): string[] {
  const { verdict, eval_outcomes: outcomes, errored_evals: errored, error, review } = session;
  const failed = outcomes
    .filter(({ outcome }) => outcome === 'fail')
    .map((one) => `${one.eval_name}${optional(one)}: ${one.reasoning}`);
  const unscored = errored.map((one) => `${one.eval_name}: not scored. ${one.reasoning}`);
  const unjudged =
    verdict === 'undecided' && session.status === 'completed' && unscored.length === 0
      ? ['The scenario has no evals, so nothing was judged.']
      : [];
  const strayed = review.kept ? [] : review.findings.map(({ message }) => message);
  return [
    ...(error === undefined ? [] : [error]),
    ...(session.status === 'cancelled' ? ['Cancelled.'] : []),
    ...[...failed, ...unscored, ...unjudged, ...strayed],
    ...session.notes,
  ];
}

/** Groups sessions of which nothing is to be told but the same, in their order. */
export function alike(sessions: readonly SimulatedSessionReport[]): SimulatedSessionReport[][] {
  const told = (session: SimulatedSessionReport): string =>
    JSON.stringify([session.verdict, session.status, session.end_reason, reasonsOf(session)]);
  return [...Map.groupBy(sessions, told).values()];
}

/** An eval that is not required is among the outcomes, and never fails a session. */
const optional = (one: Record<string, unknown>): string =>
  one['required'] === false ? ' (not required)' : '';
