/**
 * Compares the measurements of the load engine `open` with known values, and measures its cost and the
 * rate of the closed loop. Usage: `node bench/load.ts [stall|cost|starved|faults|overload|closed]`
 * (default: all, in four minutes).
 *
 * - stall: a server that takes 50 ms and stalls for 2 s in every 10 s, at 100 requests/s for 60 s. The
 *   latencies can be computed: a fifth of the requests wait, uniformly from 0 to 2 s.
 * - cost: CPU time and send lag at 100 and at 2,000 requests/s.
 * - faults: 5% of the connections are reset, 5% of the bodies are truncated, and all other connections
 *   close after their response, which takes 50 ms.
 * - overload: 120 requests/s to a server with a capacity of 100; the rest waits in a queue.
 * - closed: the rate that autocannon and our own closed loop reach against a server without a delay, and
 *   what a closed loop reports about the stalls.
 * - starved: the generator shares one core with busy programs, and must report an invalid run.
 *
 * The server runs in its own process. In `starved`, so does the generator.
 */
import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cpus } from 'node:os';
import { findBrokenMusts } from '../conformance/index.ts';
import { load } from '../load/index.ts';
import { startAutocannon } from '../load/engines/autocannon.ts';
import { runWarmUpLoop } from '../load/engines/warm-up-loop.ts';
import { createOpenTransport } from '../load/engines/open.ts';
import type { OutgoingRequest } from '../load/engines/transport.ts';
import type { LoadReport } from '../src/contract/index.ts';
import { systemClock } from '../src/platform/clock.ts';

type Engine = LoadReport['plan']['engine'];

const engines = ['open'] as const;
const STALL = { serviceMs: 50, everyMs: 10_000, forMs: 2_000 };

/** A share of 0.2 arrives in a stall, so the percentile 1 - x waits 2 s * (1 - x / 0.2). */
const expected = { p50: 50, p90: 1_050, p99: 1_950, mean: 250 };

const FAULTS_EVERY = 20;
const CAPACITY_PER_SECOND = 100;
let busyUntilMs = 0;

/** Returns how many milliseconds the response to a request takes, by kind of server. */
const delays: Record<string, () => number> = {
  stall: () => {
    const inCycleMs = systemClock.monotonicMs() % STALL.everyMs;
    return Math.max(0, STALL.forMs - inCycleMs) + STALL.serviceMs;
  },
  plain: () => 0,
  faults: () => STALL.serviceMs,
  overload: () => {
    const nowMs = systemClock.monotonicMs();
    busyUntilMs = Math.max(busyUntilMs, nowMs) + 1_000 / CAPACITY_PER_SECOND;
    return busyUntilMs - nowMs + STALL.serviceMs;
  },
};

/** Resets or truncates 5% of the responses each, by request number, and sends the others. */
function sendFaultyResponse(response: ServerResponse, body: string, nth: number): void {
  const half = body.slice(0, body.length / 2);
  if (nth % FAULTS_EVERY === 0) response.socket?.resetAndDestroy();
  else if (nth % FAULTS_EVERY === FAULTS_EVERY / 2) {
    response.writeHead(200, { 'content-length': body.length });
    response.write(half, () => response.socket?.destroy());
  } else response.writeHead(200, { connection: 'close' }).end(body);
}

async function serve(kind: string): Promise<void> {
  const delayMs = delays[kind];
  if (!delayMs) throw new Error(`Unknown server ${kind}.`);
  const body = JSON.stringify({
    choices: [{ message: { role: 'assistant', content: 'It is on its way.' } }],
  });
  let nth = 0;
  const server = createServer((request, response) => {
    const number = nth++;
    const waitMs = delayMs();
    request.resume();
    const respond = (): void => {
      if (kind === 'faults') {
        sendFaultyResponse(response, body, number);
        return;
      }
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(body);
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

/** Prints the latencies next to the computed ones. */
async function stall(): Promise<void> {
  const [server, url] = await startProcess(['serve', 'stall']);
  const columns = ['p50', 'p90', 'p99', 'mean'] as const;
  const printRow = (name: string, cells: string[]): void =>
    console.log(name.padEnd(22) + cells.join(''));
  console.log('\nStalls of 2 s in every 10 s, 100 requests/s for 60 s; latencies in ms');
  printRow('', [...columns.map((column) => column.padStart(9)), '  cpu %', '  total']);
  printRow(
    'expected',
    columns.map((column) => cell(expected[column])),
  );
  for (const engine of engines) {
    const { chat, machine, selfCheck } = await runLoad(String(url), engine, 100, 60_000);
    const latencyMs = chat?.latencyMs;
    const isNear = columns.every((column) => {
      const error = Math.abs((latencyMs?.[column] ?? NaN) - expected[column]);
      return column === 'p50' ? error <= 3 : error <= expected[column] * 0.03;
    });
    const outcome = !selfCheck.valid ? 'INVALID RUN' : isNear ? 'accurate' : 'INACCURATE';
    printRow(engine, [
      ...columns.map((column) => cell(latencyMs?.[column])),
      cell(machine?.cpuPercent, 1),
    ]);
    printRow('  ratio to expected', [
      ...columns.map((column) => cell((latencyMs?.[column] ?? NaN) / expected[column], 3)),
      `  ${chat?.ok} of ${chat?.offered} ok: ${outcome}`,
    ]);
  }
  server.kill();
}

/** Prints the CPU time and the send lag. */
async function cost(): Promise<void> {
  const [server, url] = await startProcess(['serve', 'plain']);
  console.log('\nCPU time and send lag of the load generator; times in ms');
  console.log('                        rate    cpu %  lag p50  lag p99  lag max  response p99');
  for (const rate of [100, 2_000]) {
    for (const engine of engines) {
      const { chat, machine, selfCheck } = await runLoad(String(url), engine, rate, 15_000);
      const lag = chat?.lagMs;
      const cells = [cell(rate, 0), cell(machine?.cpuPercent), cell(lag?.p50), cell(lag?.p99)];
      const suffix = selfCheck.valid ? '' : '  INVALID RUN';
      console.log(
        `${engine.padEnd(19)}${cells.join('')}${cell(lag?.max)}${cell(chat?.latencyMs.p99)}${suffix}`,
      );
    }
  }
  server.kill();
}

/** Prints the error counts, and the latencies, which the faults must not distort. */
async function faults(): Promise<void> {
  console.log('\n5% resets, 5% truncated bodies, Connection: close; 100 requests/s for 20 s');
  console.log('                      reset  cut off other errors       ok  p50 (50)      p99');
  for (const engine of engines) {
    const [server, url] = await startProcess(['serve', 'faults']);
    const { chat } = await runLoad(String(url), engine, 100, 20_000);
    const { reset = 0, cut_off: cutOff = 0, ...others } = chat?.errors ?? {};
    const other = Object.values(others).reduce((sum, count) => sum + count, 0);
    const counts = [reset, cutOff, other, chat?.ok].map((count) => cell(count, 0)).join('');
    const { p50, p99 } = chat?.latencyMs ?? {};
    console.log(`${engine.padEnd(18)}${counts}${cell(p50)}${cell(p99)}`);
    server.kill();
  }
}

/**
 * Prints the backlog, which grows by the rate above the capacity, and the median latency, which is the
 * wait after half of the run.
 */
async function overload(): Promise<void> {
  const [rate, forMs] = [CAPACITY_PER_SECOND * 1.2, 20_000];
  const growth = rate - CAPACITY_PER_SECOND;
  const halfMs = ((forMs / 2) * growth) / CAPACITY_PER_SECOND + STALL.serviceMs;
  console.log(`\n${rate} requests/s with a capacity of ${CAPACITY_PER_SECOND}, for 20 s`);
  console.log('                 in flight/s      p50  verdict');
  console.log(`expected           ${cell(growth)}${cell(halfMs)}  FAIL`);
  for (const engine of engines) {
    const [server, url] = await startProcess(['serve', 'overload']);
    const { chat, trend, verdict } = await runLoad(String(url), engine, rate, forMs);
    const p50 = chat?.latencyMs.p50;
    console.log(`${engine.padEnd(19)}${cell(trend?.perSecond)}${cell(p50)}  ${verdict}`);
    server.kill();
  }
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
    ...{ target, clock: systemClock, connections: RAW.connections, timeoutMs: 15_000 },
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
    ...{ ...RAW, transport, clock: systemClock, next, signal },
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
  for (const engine of engines) {
    const [child, message] = await startProcess(['generate', String(url)], true);
    const { verdict, lag, reasons } = message as StarvedResult;
    const lagText = `lag p99${cell(lag?.p99)} ms, max${cell(lag?.max)} ms`;
    console.log(`${engine.padEnd(12)} ${lagText}: ${verdict}. ${reasons[0] ?? ''}`);
    child.kill();
  }
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
  console.log(`node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}`);
  if (['all', 'cost'].includes(command)) await cost();
  if (['all', 'starved'].includes(command)) await starved();
  if (['all', 'faults'].includes(command)) await faults();
  if (['all', 'overload'].includes(command)) await overload();
  if (['all', 'stall'].includes(command)) await stall();
  if (['all', 'closed'].includes(command)) await closed();
}
