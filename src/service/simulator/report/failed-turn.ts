import type { SimulatedSessionReport } from '../../../contract/index.ts';

/** Returns the turn that failed or stopped a session; undefined if it passed, or has no turn. */
export function findFailedTurn(
  session: SimulatedSessionReport,
): SimulatedSessionReport['traces'][number] | undefined {
  if (session.verdict === 'passed') return undefined;
  const { traces, failed_turn: failed } = session;
  const sequence = failed?.session_sequence ?? findDecidingTurn(session) ?? traces.length;
  return traces.find(({ session_sequence: nth }) => nth === sequence);
}

/** Returns the turn that decided the first required eval that failed, if it is one turn. */
const findDecidingTurn = ({
  eval_outcomes: outcomes,
}: SimulatedSessionReport): number | undefined =>
  outcomes.find(({ outcome, required }) => outcome === 'fail' && required !== false)?.turn;

/** Puts the session first whose failed turn tells most: one in which the user said something. */
export function putExampleFirst(
  group: readonly SimulatedSessionReport[],
): SimulatedSessionReport[] {
  const example = group.find(
    (session) => (findFailedTurn(session)?.user_input.trim() ?? '') !== '',
  );
  return example ? [example, ...group.filter((session) => session !== example)] : [...group];
}
