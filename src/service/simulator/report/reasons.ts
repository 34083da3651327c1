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
  const strayed = review.kept ? [] : review.findings.map(({ says }) => says);
  return [
    ...(error === undefined ? [] : [error]),
    ...(session.status === 'cancelled' ? ['Cancelled.'] : []),
    ...[...failed, ...unscored, ...unjudged, ...strayed],
    ...session.notes,
  ];
}

/** An eval that is not required is among the outcomes, and never fails a session. */
const optional = (one: Record<string, unknown>): string =>
  one['required'] === false ? ' (not required)' : '';
