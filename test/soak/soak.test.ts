/** Long runs of the built service: whether memory, handles, files, or latencies grow. */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import t, { type Test } from 'tap';
import { isNightly } from '../support/nightly.ts';
import { formatReport } from '../support/soak/soak-report.ts';
import { runSoak, type SoakOptions } from '../support/soak/run-soak.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string' },
    days: { type: 'string' },
    store: { type: 'string' },
    out: { type: 'string' },
  },
  strict: false,
});
const { minutes, days, store, out } = values;
const isAsked = minutes !== undefined || days !== undefined;
const dialect = store === 'postgres' ? 'postgres' : 'sqlite';

/** Asserts that nothing grows without a reason, and that nothing failed. */
async function assertSteady(t: Test, length: Pick<SoakOptions, 'minutes' | 'days'>): Promise<void> {
  const folder = typeof out === 'string' ? out : join(t.testdir({}));
  const report = await runSoak(t, { dialect, out: folder, ...length });
  for (const line of formatReport(report).split('\n')) t.comment(line);
  t.same(report.errors, [], 'no request failed');
  const grown = report.judgments.filter(({ verdict }) => verdict === 'unexplained');
  t.same(
    grown.map(({ name }) => name),
    [],
    'nothing grows without a reason',
  );
}

const skipUnless = (isRun: boolean): { skip?: string; timeout: number } => ({
  timeout: 0,
  ...(!isRun && { skip: 'runs in .ci/nightly, and with npm run test:soak' }),
});

void t.test('nothing grows in real time', skipUnless(minutes !== undefined), (t) =>
  assertSteady(t, { minutes: Number(minutes) }),
);

void t.test(
  'nothing grows in simulated days',
  skipUnless(days !== undefined || (isNightly && !isAsked)),
  (t) => assertSteady(t, { days: Number(days ?? 30) }),
);

const LEAK = new URL('../support/soak/leak-per-request.ts', import.meta.url).href;

void t.test('a leak per request is found', skipUnless(isNightly && !isAsked), async (t) => {
  const { judgments } = await runSoak(t, {
    dialect: 'sqlite',
    days: 8,
    out: join(t.testdir({})),
    preloads: [LEAK],
  });
  const heap = judgments.find(({ name }) => name === 'service: heap of the main thread');
  t.match(heap, { verdict: 'unexplained' });
});
