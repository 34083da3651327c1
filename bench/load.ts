/**
 * What the load generator says, beside what is true, and what it costs. `node bench/load.ts` prints
 * all of it in six minutes; `node bench/load.ts stall`, `cost`, `starved`, `faults` or `overload` a
 * part.
 *
 * stall: a server that takes 50 ms and stalls 2 s in every 10 s, at 100 requests/s for 60 s. What a
 * stall does to those who ask in it can be worked out: a fifth of all wait, evenly from 0 to 2 s.
 * cost: processor time at 100 requests/s, and how late requests leave at 2000.
 * faults: 5 % of the connections are reset, 5 % of the bodies end in the middle, all others close after
 * their answer, which takes 50 ms.
 * overload: a server that does 100 a second is asked for 120; what it has not done waits.
 * starved: the generator shares one core with programs that take it; it must say so of itself.
 * The target has a process of its own; so has, where it is starved, the generator.
 */
import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cpus } from 'node:os';
import { findBrokenMusts } from '../conformance/index.ts';
import { load } from '../load/index.ts';
import type { LoadReport } from '../src/contract/index.ts';
import { systemClock } from '../src/platform/clock.ts';

type Engine = LoadReport['plan']['engine'];

const engines = ['open', 'autocannon'] as const;
const STALL = { serviceMs: 50, everyMs: 10_000, forMs: 2_000 };

/** A share s of 0.2 arrives in a stall: the percentile 1 - x of all waits 2 s * (1 - x / 0.2). */
const truth = { p50: 50, p90: 1_050, p99: 1_950, mean: 250 };

const FAULTS_EVERY = 20;
const CAPACITY_PER_SECOND = 100;
let fullUntilMs = 0;

/** Milliseconds until an answer to what comes now. */
const delays: Record<string, () => number> = {
  stall: () => {
    const inCycle = systemClock.monotonicMs() % STALL.everyMs;
    return Math.max(0, STALL.forMs - inCycle) + STALL.serviceMs;
  },
  plain: () => 0,
  faults: () => STALL.serviceMs,
  overload: () => {
    const nowMs = systemClock.monotonicMs();
    fullUntilMs = Math.max(fullUntilMs, nowMs) + 1_000 / CAPACITY_PER_SECOND;
    return fullUntilMs - nowMs + STALL.serviceMs;
  },
};

/** Answers, or breaks off as the number of the request says. */
function answerFaulty(response: ServerResponse, body: string, nth: number): void {
  const half = body.slice(0, body.length / 2);
  if (nth % FAULTS_EVERY === 0) response.socket?.resetAndDestroy();
  else if (nth % FAULTS_EVERY === FAULTS_EVERY / 2) {
    response.writeHead(200, { 'content-length': body.length });
    response.write(half, () => response.socket?.destroy());
  } else response.writeHead(200, { connection: 'close' }).end(body);
}

async function serve(kind: string): Promise<void> {
  const delayMs = delays[kind];
  if (!delayMs) throw new Error(`there is no server ${kind}`);
  const body = JSON.stringify({
    choices: [{ message: { role: 'assistant', content: 'It is on its way.' } }],
  });
  let nth = 0;
  const server = createServer((request, response) => {
    const number = nth++;
    const waitMs = delayMs();
    request.resume();
    const answer = (): void => {
      if (kind === 'faults') {
        answerFaulty(response, body, number);
        return;
      }
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
    validateResponse: findBrokenMusts,
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

/** Every fault is counted, and none makes the times of the others untrue. */
async function faults(): Promise<void> {
  console.log('\nResets on 5 %, half bodies on 5 %, Connection: close; 100 requests/s for 20 s');
  console.log('                      reset  cut off other errors       ok  p50 (50)      p99');
  for (const engine of engines) {
    const [server, url] = await started(['serve', 'faults']);
    const { chat } = await runOf(String(url), engine, 100, 20_000);
    const { reset = 0, cut_off: cutOff = 0, ...others } = chat?.errors ?? {};
    const other = Object.values(others).reduce((sum, times) => sum + times, 0);
    const counts = [reset, cutOff, other, chat?.ok].map((count) => cell(count, 0)).join('');
    const { p50, p99 } = chat?.latencyMs ?? {};
    console.log(`${engine.padEnd(18)}${counts}${cell(p50)}${cell(p99)}`);
    server.kill();
  }
}

/** In flight rises by what is asked for and not done, and half of all wait for half of that. */
async function overload(): Promise<void> {
  const [rate, forMs] = [CAPACITY_PER_SECOND * 1.2, 20_000];
  const rises = rate - CAPACITY_PER_SECOND;
  const halfMs = ((forMs / 2) * rises) / CAPACITY_PER_SECOND + STALL.serviceMs;
  console.log(`\n${rate} requests/s for a capacity of ${CAPACITY_PER_SECOND}, for 20 s`);
  console.log('                 in flight/s      p50  verdict');
  console.log(`truth              ${cell(rises)}${cell(halfMs)}  FAIL`);
  for (const engine of engines) {
    const [server, url] = await started(['serve', 'overload']);
    const { chat, trend, verdict } = await runOf(String(url), engine, rate, forMs);
    const p50 = chat?.latencyMs.p50;
    console.log(`${engine.padEnd(19)}${cell(trend?.perSecond)}${cell(p50)}  ${verdict}`);
    server.kill();
  }
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

const [VERB = 'all', name = '', other = ''] = process.argv.slice(2);
if (VERB === 'serve') await serve(name);
else if (VERB === 'generate') {
  const report = await runOf(name, other === 'autocannon' ? 'autocannon' : 'open', 100, 10_000);
  const { verdict, selfCheck, chat } = report;
  process.send?.({ verdict, reasons: selfCheck.reasons, lag: chat?.lagMs } satisfies Starved);
} else {
  console.log(`node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}`);
  if (['all', 'cost'].includes(VERB)) await cost();
  if (['all', 'starved'].includes(VERB)) await starved();
  if (['all', 'faults'].includes(VERB)) await faults();
  if (['all', 'overload'].includes(VERB)) await overload();
  if (['all', 'stall'].includes(VERB)) await stall();
}
