/**
 * Runs the built service for a long time, and judges what grows:
 *
 *     node test/soak/run.ts [--minutes N | --days N] [--store sqlite|postgres] [--out DIR]
 *     node test/soak/run.ts --judge DIR
 *
 * Default: 60 minutes in real time on SQLite. Writes a sample every 10 s to `samples.jsonl`, and at the
 * end `report.md` and `report.json`. `--judge` judges the samples of a run again.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
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
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'soak.test.ts'), ...length, '--store', store, '--out', folder],
    { env: { ...process.env, TAP_TIMEOUT: '0' }, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  for await (const line of createInterface(child.stdout)) {
    if (!/^ *ok /.test(line)) console.log(line);
  }
  if (child.exitCode === null) await once(child, 'exit');
  return child.exitCode ?? 1;
}

if (values.judge === undefined) process.exitCode = await run(values);
else console.log(formatReport(judgeAgain(values.judge)));
