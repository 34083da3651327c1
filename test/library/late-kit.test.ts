/** Response times say nothing about a sandbox while the kit itself is late. */
import { join } from 'node:path';
import t from 'tap';
import { check, grade, type CheckReport } from '../../library/index.ts';
import { rowOf } from '../support/conformance/verdicts.ts';
import { runOnQuietMachine } from '../support/measurements/quiet-machine.ts';
import {
  healthy,
  withSandboxDouble,
  type RouteBehavior,
} from '../support/sandboxes/sandbox-double.ts';

const TARGET_MS = 2_000;
const only = ['HEALTH-030'];

/** Blocks the process of the kit, as a busy machine does. */
const blockKit: RouteBehavior = (...args) => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, TARGET_MS + 100);
  healthy(...args);
};
const respondSlowly: RouteBehavior = (...args) => {
  setTimeout(() => healthy(...args), TARGET_MS + 100);
};

void t.test('a response that only the kit received late is not judged', async (t) => {
  const sandbox = await withSandboxDouble(t, { health: blockKit });
  const recordFile = join(t.testdir({}), 'run.ndjson');
  const report = await check({ url: sandbox.url, only, recordFile });
  const result = rowOf(report, 'HEALTH-030');
  t.match(result, {
    verdict: 'not_observed',
    reason: /^sandbox-kit itself was \d\.\d\d s late, so the response times say nothing about/,
  });
  const graded = await grade({ recordFile });
  const again = rowOf(graded, 'HEALTH-030');
  t.equal(again?.verdict, 'not_observed', 'the recording says it too');
});

void t.test('a slow sandbox is still found', async (t) => {
  const sandbox = await withSandboxDouble(t, { health: respondSlowly });
  const findResult = (report: CheckReport): object | undefined => rowOf(report, 'HEALTH-030');
  const result = await runOnQuietMachine(
    t,
    async () => findResult(await check({ url: sandbox.url, only })),
    (found) => found !== undefined && 'verdict' in found && found.verdict === 'warn',
  );
  if (result) t.match(result, { verdict: 'warn', findings: 1 });
});
