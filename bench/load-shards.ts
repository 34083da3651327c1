/**
 * Compares two shards of 50 requests/s, merged, with one run of 100 requests/s against the reference
 * agent. Usage: `node bench/load-shards.ts [SECONDS]` (default: 60).
 *
 * Both shards and the agent are separate processes. Responses take 50 to 250 ms, so that the
 * percentiles describe the agent and not the machine. Expected: the same verdict, and percentiles
 * within 2%.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { startAgent } from '../reference-agent/index.ts';
import type { LoadReport } from '../src/contract/index.ts';
import { isoTime, systemClock } from '../src/platform/clock.ts';

const MAIN = join(import.meta.dirname, '../cli/main.ts');
const RATE = 100;
/** Time until both shards are ready to start, warm-up included. */
const START_MS = 25_000;
const WITHIN = 0.02;

async function serve(): Promise<void> {
  const latency = { min_ms: 50, max_ms: 250 };
  const agent = await startAgent({ voice: null, faults: [{ kind: 'latency', latency }] });
  process.send?.(agent.url);
}

async function runKit(args: readonly string[], report: string): Promise<LoadReport> {
  const child = spawn(process.execPath, [MAIN, 'load', ...args, '--json', report], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await once(child, 'close');
  return JSON.parse(readFileSync(report, 'utf8')) as LoadReport;
}

async function compare(seconds: number): Promise<void> {
  const agent = spawn(process.execPath, [import.meta.filename, 'serve'], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const [url] = (await once(agent, 'message')) as [string];
  const directory = mkdtempSync(join(tmpdir(), 'load-shards-'));
  const path = (name: string): string => join(directory, `${name}.json`);
  const run = [url, '--profile', 'chat', '--rate', String(RATE), '--duration', `${seconds}s`];
  try {
    console.log(`load average ${loadavg()[0]?.toFixed(1)} at the start`);
    const whole = await runKit([...run, '--seed', 'sharded'], path('whole'));
    const start = isoTime(systemClock.nowMs() + START_MS);
    const shards = ['1/2', '2/2'].map((shard, nth) =>
      runKit([...run, '--shard', shard, '--start-at', start], path(`shard-${nth}`)),
    );
    await Promise.all(shards);
    const merged = await runKit(['--merge', path('shard-0'), path('shard-1')], path('merged'));
    print(whole, merged);
  } finally {
    rmSync(directory, { recursive: true });
    agent.kill();
  }
}

function print(whole: LoadReport, merged: LoadReport): void {
  const row = (name: string, cells: readonly (string | number)[]): void =>
    console.log(name.padEnd(18) + cells.map((cell) => String(cell).padStart(13)).join(''));
  row('', ['one run', 'merged', 'difference']);
  row('verdict', [whole.verdict, merged.verdict, whole.verdict === merged.verdict ? 'same' : 'NO']);
  for (const key of ['offered', 'sent', 'ok'] as const) {
    row(key, [whole.chat?.[key] ?? 0, merged.chat?.[key] ?? 0]);
  }
  for (const times of ['latencyMs', 'serviceMs', 'lagMs'] as const) {
    for (const key of ['p50', 'p90', 'p99', 'max', 'mean'] as const) {
      const [one, both] = [whole.chat?.[times][key] ?? NaN, merged.chat?.[times][key] ?? NaN];
      const difference = both / one - 1;
      const isJudged = times === 'latencyMs' && key !== 'max';
      const outcome = !isJudged
        ? ''
        : Math.abs(difference) <= WITHIN
          ? 'within 2%'
          : 'NOT within 2%';
      const percent = `${(difference * 100).toFixed(2)}%`;
      row(`${times} ${key}`, [one.toFixed(2), both.toFixed(2), percent, outcome]);
    }
  }
  console.log(merged.notes.join('\n'));
  for (const { selfCheck } of [whole, merged])
    console.log(selfCheck.reasons.join(' ') || 'kept up');
  for (const { id, verdict } of whole.targets) {
    const other = merged.targets.find((target) => target.id === id)?.verdict;
    row(id, [verdict, other ?? '']);
  }
}

const [command = '60'] = process.argv.slice(2);
if (command === 'serve') await serve();
else await compare(Number(command));
