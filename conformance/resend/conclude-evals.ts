/** The verdict on a turn of a simulation: on its response, and on the evals that failed at the turn. */
import type { ResentEval } from '../../src/contract/index.ts';
import type { Rejudgment } from './judge-again.ts';

const AGAIN = 'Run sandbox-kit simulate again for the verdict on the session.';

const list = (evals: readonly ResentEval[]): string =>
  `${evals.length === 1 ? 'eval' : 'evals'} ${evals.map(({ id }) => id).join(', ')}`;

/** Combines the verdict on a response with those of the evals that the session did not pass. */
export function concludeEvals(
  judged: Rejudgment,
  evals: readonly ResentEval[],
): Pick<Rejudgment, 'verdict' | 'sentence'> {
  const { verdict, sentence } = judged;
  const withVerdict = (...verdicts: ResentEval['verdict'][]): ResentEval[] =>
    evals.filter((each) => each.required && verdicts.includes(each.verdict));
  const failed = withVerdict('fail');
  if (failed.length > 0) {
    const verb = failed.length === 1 ? 'fails' : 'fail';
    return {
      verdict: 'not-conforming',
      sentence: `${sentence} With this reply, ${list(failed)} still ${verb}.`,
    };
  }
  if (verdict !== 'conforming') return { verdict, sentence };
  const open = withVerdict('not_judged');
  if (open.length > 0) {
    return {
      verdict: 'not-judged',
      sentence: `${sentence} This reply alone does not decide ${list(open)}. ${AGAIN}`,
    };
  }
  const passed = withVerdict('pass');
  const elsewhere = withVerdict('elsewhere');
  if (passed.length === 0 && elsewhere.length > 0) {
    const turns = [...new Set(elsewhere.flatMap(({ turn }) => turn ?? []))];
    const advice = turns.length > 0 ? `Send turn ${turns.join(' or ')} again instead.` : AGAIN;
    return {
      verdict: 'not-judged',
      sentence: `${sentence} But ${list(elsewhere)} did not fail at this turn. ${advice}`,
    };
  }
  const verb = passed.length === 1 ? 'passes' : 'pass';
  const now = passed.length > 0 ? ` With this reply, ${list(passed)} ${verb}.` : '';
  return { verdict, sentence: `${sentence}${now} ${AGAIN}` };
}
