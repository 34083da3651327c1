/**
 * Measures the cost of the load engine `open`, and the rate of the closed loop. Usage:
 * `node bench/load.ts [cost|starved|closed]` (default: all, in two minutes). That its measurements are
 * right is tested (`test/load`, `test/nightly/measured/load-truth.test.ts`).
 *
 * - cost: CPU time and send lag at 100 and at 2,000 requests/s.
 * - closed: the rate that autocannon and our own closed loop reach against a server without a delay, and
 *   what a closed loop reports about a server that takes 50 ms and stalls for 2 s in every 10 s.
 * - starved: the generator shares one core with busy programs, and must report an invalid run.
 *
 * The server runs in its own process. In `starved`, so does the generator.
 */
import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { findBrokenMusts } from '../conformance/index.ts';
import { load } from '../load/index.ts';
import { startAutocannon } from '../load/engines/autocannon.ts';
import { runWarmUpLoop } from '../load/engines/warm-up-loop.ts';
import { createOpenTransport } from '../load/engines/open.ts';
import type { OutgoingRequest } from '../load/engines/transport.ts';
import type { LoadReport } from '../src/contract/index.ts';
import { systemClock } from '../src/platform/clock.ts';
import { describeMachine } from './machine.ts';

type Engine = LoadReport['plan']['engine'];

const STALL = { serviceMs: 50, everyMs: 10_000, forMs: 2_000 };

/** Returns how many milliseconds the response to a request takes, by kind of server. */
const delays: Record<string, () => number> = {
  stall: () => {
    const inCycleMs = systemClock.monotonicMs() % STALL.everyMs;
    return Math.max(0, STALL.forMs - inCycleMs) + STALL.serviceMs;
  },
  plain: () => 0,
};

async function serve(kind: string): Promise<void> {
  const delayMs = delays[kind];
  if (!delayMs) throw new Error(`Unknown server ${kind}.`);
  const body = JSON.stringify({
    choices: [{ message: { role: 'assistant', content: 'It is on its way.' } }],
  });
  // What the generator should report. On a busy machine, 200 responses that a stall delays take a while to send.
  const tookMs: number[] = [];
  process.on('message', () => process.send?.(tookMs));
  const server = createServer((request, response) => {
    const startedMs = systemClock.monotonicMs();
    const waitMs = delayMs();
    request.resume();
    const respond = (): void => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(body);
      tookMs.push(systemClock.monotonicMs() - startedMs);
    };
    if (waitMs === 0) respond();
    else void systemClock.sleep(waitMs).then(respond);
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
}

/** Starts this file as a child process; returns the process and its first message. */
async function startProcess(args: string[], isPinned = false): Promise<[ChildProcess, unknown]> {
  const stdio = ['ignore', 'inherit', 'inherit', 'ipc'] as const;
  const program = [process.execPath, import.meta.filename, ...args];
  const child = isPinned
    ? spawn('nice', ['-n', '10', 'taskset', '-c', '0', ...program], { stdio: [...stdio] })
    : fork(import.meta.filename, args);
  const [message] = (await once(child, 'message')) as [unknown];
  return [child, message];
}

/** Runs a load test. */
function runLoad(
  sandbox: string,
  engine: Engine,
  ratePerSecond: number,
  windowMs: number,
  connections?: number,
): Promise<LoadReport> {
  return load({
    sandbox,
    engine,
    connections,
    ratePerSecond,
    windowMs,
    warmUpMs: 2_000,
    kitVersion: 'bench',
    seed: 'bench',
    clock: systemClock,
    profile: 'chat',
    simulatedUsers: 0,
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

/** Prints the CPU time and the send lag. */
async function cost(): Promise<void> {
  const [server, url] = await startProcess(['serve', 'plain']);
  console.log('\nCPU time and send lag of the load generator; times in ms');
  console.log('     rate    cpu %  lag p50  lag p99  lag max  response p99');
  for (const rate of [100, 2_000]) {
    const { chat, machine, selfCheck } = await runLoad(String(url), 'open', rate, 15_000);
    const lag = chat?.lagMs;
    const cells = [cell(rate, 0), cell(machine?.cpuPercent), cell(lag?.p50), cell(lag?.p99)];
    const suffix = selfCheck.valid ? '' : '  INVALID RUN';
    console.log(`${cells.join('')}${cell(lag?.max)}${cell(chat?.latencyMs.p99)}${suffix}`);
  }
  server.kill();
}

/** Prints the rates of closed loops, and what a closed loop reports about stalls. */
async function closed(): Promise<void> {
  const [plain, plainUrl] = await startProcess(['serve', 'plain']);
  console.log('\nClosed loops without a delay of the server, for 10 s');
  console.log('connections                 rate    cpu %  service p50  service p99');
  for (const connections of [1, 10, 50]) {
    const { chat, machine } = await runLoad(String(plainUrl), 'autocannon', 0, 10_000, connections);
    const { p50, p99 } = chat?.serviceMs ?? {};
    const cells = [cell(chat?.okPerSecond, 0), cell(machine?.cpuPercent), cell(p50), cell(p99)];
    console.log(`autocannon ${String(connections).padEnd(12)}${cells.join('')}`);
  }
  for (const [name, measure] of [
    ['autocannon', measureAutocannon],
    ['undici', measureUndici],
  ] as const) {
    console.log(`${name}, 10, without validation  ${cell(await measure(String(plainUrl)), 0)}`);
  }
  plain.kill();
  const [stalling, stallingUrl] = await startProcess(['serve', 'stall']);
  const { chat } = await runLoad(String(stallingUrl), 'autocannon', 0, 20_000, 10);
  const { p50, p90, mean } = chat?.serviceMs ?? {};
  const times = [p50, p90, mean].map((value) => cell(value)).join('');
  console.log(`stalls hidden: p50, p90, and mean of service times ${times} (p90 of waits: 1050)`);
  stalling.kill();
}

const RAW = { connections: 10, durationMs: 10_000 };
const rawRequest: OutgoingRequest = {
  method: 'POST',
  path: '/chat/completions',
  headers: {},
  body: '{}',
};

/** Returns the responses per second that autocannon reads when it validates none. */
async function measureAutocannon(target: string): Promise<number> {
  let responses = 0;
  const run = startAutocannon({
    target,
    clock: systemClock,
    connections: RAW.connections,
    timeoutMs: 15_000,
    next: () => ({ outgoing: rawRequest, onEnd: () => responses++ }),
    onUnreadable: () => {},
  });
  await systemClock.sleep(RAW.durationMs);
  const counted = responses;
  await run.stop();
  return (counted / RAW.durationMs) * 1_000;
}

/** Returns the same for the closed loop of the warm-up. */
async function measureUndici(target: string): Promise<number> {
  const transport = createOpenTransport({ target, clock: systemClock });
  const { signal } = new AbortController();
  const next = () => rawRequest;
  const { perSecond } = await runWarmUpLoop({
    ...RAW,
    transport,
    clock: systemClock,
    next,
    signal,
  });
  await transport.close();
  return perSecond;
}

const BUSY_PROGRAMS = 4;

/** The self-check of a starved generator. */
interface StarvedResult {
  verdict: string;
  reasons: string[];
  lag: { p99: number | null; max: number | null } | undefined;
}

/** Runs the generator with the lowest priority on a busy core, against a healthy server. */
async function starved(): Promise<void> {
  const [server, url] = await startProcess(['serve', 'plain']);
  const busyLoop = 'for (;;) {}';
  const busyPrograms = Array.from({ length: BUSY_PROGRAMS }, () =>
    spawn('taskset', ['-c', '0', process.execPath, '-e', busyLoop], { stdio: 'ignore' }),
  );
  console.log(`\nA generator on one core with ${BUSY_PROGRAMS} busy programs, 100 requests/s`);
  const [child, message] = await startProcess(['generate', String(url)], true);
  const { verdict, lag, reasons } = message as StarvedResult;
  const lagText = `lag p99${cell(lag?.p99)} ms, max${cell(lag?.max)} ms`;
  console.log(`${lagText}: ${verdict}. ${reasons[0] ?? ''}`);
  child.kill();
  for (const program of busyPrograms) program.kill();
  server.kill();
}

const [command = 'all', argument = ''] = process.argv.slice(2);
if (command === 'serve') await serve(argument);
else if (command === 'generate') {
  const report = await runLoad(argument, 'open', 100, 10_000);
  const { verdict, selfCheck, chat } = report;
  process.send?.({ verdict, reasons: selfCheck.reasons, lag: chat?.lagMs } satisfies StarvedResult);
} else {
  console.log(describeMachine());
  if (['all', 'cost'].includes(command)) await cost();
  if (['all', 'starved'].includes(command)) await starved();
  if (['all', 'closed'].includes(command)) await closed();
}
