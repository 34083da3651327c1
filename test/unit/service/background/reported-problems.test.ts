/** The memory of problems that were reported to users. */
import t from 'tap';
import { createReportedProblems } from '../../../../src/service/background/reported-problems.ts';

void t.test('the oldest of more than 1,000 problems is forgotten and reported again', async (t) => {
  const problems = createReportedProblems({ runningMs: () => 0 });
  for (let nth = 0; nth <= 1_000; nth += 1) await problems.claim([String(nth)], Infinity);
  t.equal(await problems.claim(['1000'], Infinity), false, 'the newest is known');
  t.equal(await problems.claim(['0'], Infinity), true, 'the oldest is reported again');
});
