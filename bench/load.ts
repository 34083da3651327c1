/**
 * Measures the cost of the load engine `open`, and the rate of the closed loop. Usage:
 * `node bench/load.ts [cost|rate|starved|closed]` (default: all, in three minutes). That its measurements are
 * right is tested (`test/load`, `test/nightly/measured/load-truth.test.ts`).
 *
 * - cost: CPU time and send lag at 100 and at 2,000 requests/s.
 * - rate: the highest rate that one process holds, next to other load generators where they are installed.
 *   The load generators have one processor, and the server the other.
 * - closed: the rate that autocannon and our own closed loop reach against a server without a delay, and
 *   what a closed loop reports about a server that takes 50 ms and stalls for 2 s in every 10 s.
 * - starved: the generator shares one core with busy programs, and must report an invalid run.
 *
 * The server runs in its own process. In `rate` and `starved`, so does the generator.
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
import { peers, runPeer } from './load-peers.ts';
import {
  describeMachine,
  GENERATOR_CPU,
  pin,
  pinGenerator,
  SERVER_CPU,
  startBusyPrograms,
} from './machine.ts';

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
    ? spawn('nice', ['-n', '10', 'taskset', '-c', GENERATOR_CPU, ...program], { stdio: [...stdio] })
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

const RATES = [1_000, 2_000, 3_000, 4_000, 6_000, 8_000, 10_000, 12_000, 15_000];
const HELD_LAG_MS_MAX = 5;
/** With a longer lag, the generator sends fewer requests than planned. */
const BEHIND_LAG_MS_MIN = 200;
const RATE_SECONDS = 4;
const PEER_CONNECTIONS = 50;
/** A closed loop has no schedule. */
const NO_LAG = '-'.padStart(9);
const REQUEST_BODY = JSON.stringify({
  messages: [{ role: 'user', content: 'Hello, where is my order A-1001? (SKABCD000001)' }],
  session_id: 'sk_abcd00000001',
});

/** Prints the rates that our load generator holds, and those that others reach. */
async function rate(): Promise<void> {
  console.log(`\nThe highest rate against a bare server; ${pinGenerator()}`);
  const [server, url] = await startProcess(['serve', 'plain']);
  pin(server.pid, SERVER_CPU);
  console.log('                 requests/s  lag p99 ms  cpu us/request');
  for (const perSecond of RATES) {
    const args = [String(url), String(perSecond), String(RATE_SECONDS * 1_000)];
    const [child, message] = await startProcess(['generate', ...args]);
    child.kill();
    await once(child, 'exit');
    const { lag, cpuPercent, missed } = message as GeneratorResult;
    const lagMs = lag?.p99 ?? Infinity;
    if (lagMs >= BEHIND_LAG_MS_MIN || missed > 0) {
      console.log(`sandbox-kit load   ${cell(perSecond, 0)}   fell behind`);
      break;
    }
    const cells = [cell(perSecond, 0), cell(lagMs), cell((cpuPercent * 1e4) / perSecond)];
    const suffix = lagMs < HELD_LAG_MS_MAX ? '' : '   NOT HELD';
    console.log(`sandbox-kit load   ${cells.join('   ')}${suffix}`);
  }
  const options = { body: REQUEST_BODY, seconds: RATE_SECONDS, connections: PEER_CONNECTIONS };
  for (const name of Object.keys(peers)) {
    const result = await runPeer(name, { url: `${String(url)}/v1/chat/completions`, ...options });
    const text =
      'skipped' in result
        ? `  skipped: ${result.skipped}`
        : [cell(result.perSecond, 0), NO_LAG, cell(result.cpuMicrosPerRequest)].join('   ');
    console.log(`${`${name}, closed loop`.padEnd(19)}${text}`);
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

/** The result of a generator in its own process. */
interface GeneratorResult {
  verdict: string;
  reasons: string[];
  lag: { p99: number | null; max: number | null } | undefined;
  cpuPercent: number;
  /** Requests that were due but not sent. */
  missed: number;
}

/** Runs the generator with the lowest priority on a busy core, against a healthy server. */
async function starved(): Promise<void> {
  const [server, url] = await startProcess(['serve', 'plain']);
  const busyPrograms = startBusyPrograms(BUSY_PROGRAMS, GENERATOR_CPU);
  console.log(`\nA generator on one core with ${BUSY_PROGRAMS} busy programs, 100 requests/s`);
  const [child, message] = await startProcess(['generate', String(url), '100', '10000'], true);
  const { verdict, lag, reasons } = message as GeneratorResult;
  const lagText = `lag p99${cell(lag?.p99)} ms, max${cell(lag?.max)} ms`;
  console.log(`${lagText}: ${verdict}. ${reasons[0] ?? ''}`);
  child.kill();
  for (const program of busyPrograms) program.kill();
  server.kill();
}

const [command = 'all', argument = '', ...numbers] = process.argv.slice(2);
if (command === 'serve') await serve(argument);
else if (command === 'generate') {
  const [perSecond = NaN, windowMs = NaN] = numbers.map(Number);
  const report = await runLoad(argument, 'open', perSecond, windowMs);
  const { verdict, selfCheck, chat, machine } = report;
  process.send?.({
    verdict,
    reasons: selfCheck.reasons,
    lag: chat?.lagMs,
    cpuPercent: machine?.cpuPercent ?? NaN,
    missed: (chat?.offered ?? NaN) - (chat?.sent ?? NaN),
  } satisfies GeneratorResult);
} else {
  console.log(describeMachine());
  if (['all', 'cost'].includes(command)) await cost();
  if (['all', 'starved'].includes(command)) await starved();
  if (['all', 'closed'].includes(command)) await closed();
  // The last one, because it gives this process a single processor.
  if (['all', 'rate'].includes(command)) await rate();
}
