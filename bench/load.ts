/**
 * What the load generator says, beside what is true, and what it costs. `node bench/load.ts` prints
 * all of it in under five minutes; `node bench/load.ts stall`, `cost` or `starved` a part.
 *
 * stall: a server that takes 50 ms and stalls 2 s in every 10 s, at 100 requests/s for 60 s. What a
 * stall does to those who ask in it can be worked out: a fifth of all wait, evenly from 0 to 2 s.
 * cost: processor time at 100 requests/s, and how late requests leave at 2000.
 * starved: the generator shares one core with programs that take it; it must say so of itself.
 * The target has a process of its own; so has, where it is starved, the generator.
 */
import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cpus } from 'node:os';
import { brokenMusts } from '../conformance/index.ts';
import { load } from '../load/index.ts';
import type { LoadReport } from '../src/contract/index.ts';
import { systemClock } from '../src/shared/clock.ts';

type Engine = LoadReport['plan']['engine'];

const engines = ['open', 'autocannon'] as const;
const STALL = { serviceMs: 50, everyMs: 10_000, forMs: 2_000 };

/** A share s of 0.2 arrives in a stall: the percentile 1 - x of all waits 2 s * (1 - x / 0.2). */
const truth = { p50: 50, p90: 1_050, p99: 1_950, mean: 250 };

/** Milliseconds until an answer to what comes now. */
const delays: Record<string, () => number> = {
  stall: () => {
    const inCycle = systemClock.monotonicMs() % STALL.everyMs;
    return Math.max(0, STALL.forMs - inCycle) + STALL.serviceMs;
  },
  plain: () => 0,
};

async function serve(kind: string): Promise<void> {
  const delayMs = delays[kind];
  if (!delayMs) throw new Error(`there is no server ${kind}`);
  const body = JSON.stringify({
    choices: [{ message: { role: 'assistant', content: 'It is on its way.' } }],
  });
  const server = createServer((request, response) => {
    const waitMs = delayMs();
    request.resume();
    const answer = (): void => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(body);
    };
    if (waitMs === 0) answer();
    else void systemClock.sleep(waitMs).then(answer);
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

/** A process of this file that sends what it has to say first. */
async function started(args: string[], pinned = false): Promise<[ChildProcess, unknown]> {
  const stdio = ['ignore', 'inherit', 'inherit', 'ipc'] as const;
  const program = [process.execPath, import.meta.filename, ...args];
  const child = pinned
    ? spawn('nice', ['-n', '10', 'taskset', '-c', '0', ...program], { stdio: [...stdio] })
    : fork(import.meta.filename, args);
  const [said] = (await once(child, 'message')) as [unknown];
  return [child, said];
}

/** A judged run, without warm-up: the first request counts as the last does. */
function runOf(
  sandbox: string,
  engine: Engine,
  ratePerSecond: number,
  windowMs: number,
): Promise<LoadReport> {
  return load({
    sandbox,
    engine,
    ratePerSecond,
    windowMs,
    warmUpMs: 2_000,
    kitVersion: 'bench',
    seed: 'bench',
    clock: systemClock,
    profile: 'chat',
    arrivals: 'uniform',
    simulatedUsers: 0,
    percentile: 99,
    apiKey: undefined,
    ca: undefined,
    acceptNotProven: true,
    judge: brokenMusts,
    preflight: () => Promise.resolve({ hasUsers: false }),
    onTick: () => {},
    signal: new AbortController().signal,
  });
}

const cell = (value: number | null | undefined, decimals = 1): string =>
  (value ?? NaN).toFixed(decimals).padStart(9);

/** Both engines at once would disturb each other: one after the other. */
async function stall(): Promise<void> {
  const [server, url] = await started(['serve', 'stall']);
  const columns = ['p50', 'p90', 'p99', 'mean'] as const;
  const row = (name: string, cells: string[]): void =>
    console.log(name.padEnd(22) + cells.join(''));
  console.log('\nA stall of 2 s in every 10 s, 100 requests/s for 60 s, times in ms');
  row('', [...columns.map((column) => column.padStart(9)), '  cpu %', '  in sum']);
  row(
    'truth',
    columns.map((column) => cell(truth[column])),
  );
  for (const engine of engines) {
    const { chat, machine, selfCheck } = await runOf(String(url), engine, 100, 60_000);
    const times = chat?.latencyMs;
    const isNear = columns.every((column) => {
      const away = Math.abs((times?.[column] ?? NaN) - truth[column]);
      return column === 'p50' ? away <= 3 : away <= truth[column] * 0.03;
    });
    const word = !selfCheck.valid ? 'INVALID RUN' : isNear ? 'true' : 'OFF';
    row(engine, [...columns.map((column) => cell(times?.[column])), cell(machine?.cpuPercent, 1)]);
    row(`  ratio to truth`, [
      ...columns.map((column) => cell((times?.[column] ?? NaN) / truth[column], 3)),
      `  ${chat?.ok} of ${chat?.offered} ok: ${word}`,
    ]);
  }
  server.kill();
}

/** What the generator costs, and how late it is. */
async function cost(): Promise<void> {
  const [server, url] = await started(['serve', 'plain']);
  console.log('\nThe cost of the generator; requests leave late by (ms)');
  console.log('                        rate    cpu %  lag p50  lag p99  lag max  response p99');
  for (const rate of [100, 2_000]) {
    for (const engine of engines) {
      const { chat, machine, selfCheck } = await runOf(String(url), engine, rate, 15_000);
      const lag = chat?.lagMs;
      const cells = [cell(rate, 0), cell(machine?.cpuPercent), cell(lag?.p50), cell(lag?.p99)];
      const word = selfCheck.valid ? '' : '  INVALID RUN';
      console.log(
        `${engine.padEnd(19)}${cells.join('')}${cell(lag?.max)}${cell(chat?.latencyMs.p99)}${word}`,
      );
    }
  }
  server.kill();
}

const SPINNERS = 4;

/** What a starved generator says of itself. */
interface Starved {
  verdict: string;
  reasons: string[];
  lag: { p99: number | null; max: number | null } | undefined;
}

/** Last in turn on a core that others take all of, against a server that is well. */
async function starved(): Promise<void> {
  const [server, url] = await started(['serve', 'plain']);
  const spin = 'for (;;) {}';
  const spinners = Array.from({ length: SPINNERS }, () =>
    spawn('taskset', ['-c', '0', process.execPath, '-e', spin], { stdio: 'ignore' }),
  );
  console.log(`\nA generator on one core with ${SPINNERS} programs that take it, 100 requests/s`);
  for (const engine of engines) {
    const [child, said] = await started(['generate', String(url), engine], true);
    const { verdict, lag, reasons } = said as Starved;
    const late = `lag p99${cell(lag?.p99)} ms, max${cell(lag?.max)} ms`;
    console.log(`${engine.padEnd(12)} ${late}: ${verdict}. ${reasons[0] ?? ''}`);
    child.kill();
  }
  for (const spinner of spinners) spinner.kill();
  server.kill();
}

const [verb = 'all', name = '', other = ''] = process.argv.slice(2);
if (verb === 'serve') await serve(name);
else if (verb === 'generate') {
  const report = await runOf(name, other === 'autocannon' ? 'autocannon' : 'open', 100, 10_000);
  const { verdict, selfCheck, chat } = report;
  process.send?.({ verdict, reasons: selfCheck.reasons, lag: chat?.lagMs } satisfies Starved);
} else {
  console.log(`node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}`);
  if (['all', 'cost'].includes(verb)) await cost();
  if (['all', 'starved'].includes(verb)) await starved();
  if (['all', 'stall'].includes(verb)) await stall();
}
