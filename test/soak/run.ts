/**
 * Runs the built service for a long time, and judges what grows:
 *
 *     node test/soak/run.ts [--minutes N | --days N] [--store sqlite|postgres] [--out DIR]
 *     node test/soak/run.ts --judge DIR
 *
 * Default: 60 minutes in real time on SQLite. Writes a sample every 10 s to `samples.jsonl`, and at the
 * end `report.md` and `report.json`. `--judge` judges the samples of a run again.
 */
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { runTestFile } from '../support/run-test-file.ts';
import { judgeAgain } from '../support/soak/run-soak.ts';
import { formatReport } from '../support/soak/soak-report.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string' },
    days: { type: 'string' },
    store: { type: 'string', default: 'sqlite' },
    judge: { type: 'string' },
    out: { type: 'string', default: 'soak' },
  },
});

async function run({ minutes, days, store, out }: typeof values): Promise<number> {
  const folder = resolve(out, store);
  const length = days === undefined ? ['--minutes', minutes ?? '60'] : ['--days', days];
  console.log(`Samples and the report: ${folder}`);
  const file = join(import.meta.dirname, 'soak.test.ts');
  return runTestFile(file, [...length, '--store', store, '--out', folder]);
}

if (values.judge === undefined) process.exitCode = await run(values);
else console.log(formatReport(judgeAgain(values.judge)));
