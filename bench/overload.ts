/**
 * Measures what the agent and the service do with more requests than they can handle. Usage:
 * `node bench/overload.ts [INTERFACE]... [--seconds N] [--json FILE]` (default: all interfaces, 5 s for
 * each load; five minutes). `overload-chart.ts` draws the chart of docs/scale.md from the file.
 *
 * The capacity is the best rate of successes with 32 connections that send their next request after each
 * response; the agent then has only a sixth of its processor. Then requests arrive at multiples of it, whether or not the server keeps up. Goodput counts
 * the successes within 2 s; recovery is the time until a request is again answered within 250 ms. The
 * knee is the highest load of which 99% succeed in time.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { schemas } from '../src/contract/index.ts';
import { systemClock } from '../src/platform/clock.ts';
import { findPercentile } from '../src/platform/percentile.ts';
import { describeMachine, pinGenerator } from './machine.ts';
import { sendTraffic, type Traffic, type TrafficOptions } from './open-loop.ts';
import { interfaces, startServer, type Interface, type Server } from './overload-server.ts';
import { createTraceRequest, takeKey } from './trace-requests.ts';

/** The result of one load. Rates are per second. */
interface LoadResult {
  /** The multiple of the capacity that was offered. */
  factor: number;
  offered: number;
  goodput: number;
  refused: number;
  p50Ms: number;
  p99Ms: number;
  refusalP99Ms: number;
  recoveryMs: number;
}

/** The results of an interface, as the chart reads them. */
export interface InterfaceResult {
  name: Interface;
  /** Successes per second with 32 connections. */
  capacity: number;
  kneeFactor: number;
  peakMegabytes: number;
  loads: LoadResult[];
}

const FACTORS = [0.5, 0.8, 1, 1.5, 2, 3];
const CAPACITY_CONNECTIONS = 32;
/** The first one warms the server up. */
const CAPACITY_ROUNDS = 3;
const CONNECTIONS_MAX = 4_000;
const GOOD_MS_MAX = 2_000;
const RECOVERED_MS_MAX = 250;
const RECOVERY_MS_MAX = 60_000;
const PAUSE_MS = 20;
const KNEE_SHARE = 0.99;

type Send = (
  options: Pick<TrafficOptions, 'seconds' | 'rate' | 'connectionsMax'>,
) => Promise<Traffic>;

const chatBody = JSON.stringify(schemas.ChatRequest.examples[0]);

/** Returns the request line, the headers, and the body of the next request. */
function describeRequest(name: Interface): [line: string, headers: string, body?: string] {
  const json = 'content-type: application/json\r\n';
  switch (name) {
    case 'agent':
      return ['POST /v1/chat/completions', json, chatBody];
    case 'ingest':
    case 'ingest-postgres': {
      const body = JSON.stringify(createTraceRequest());
      return ['POST /v1/traces', `${json}x-service-api-key: ${takeKey()}\r\n`, body];
    }
    case 'results':
      return [
        'GET /api/prod-evaluations/sessions/?limit=50',
        `x-service-api-key: ${takeKey()}\r\n`,
      ];
    case 'pages':
      return ['GET /sessions?kind=production', 'accept: text/html\r\n'];
  }
}

function createRequest(name: Interface, host: string): Buffer {
  const [line, headers, body = ''] = describeRequest(name);
  const length = body === '' ? '' : `content-length: ${Buffer.byteLength(body)}\r\n`;
  return Buffer.from(`${line} HTTP/1.1\r\nhost: ${host}\r\n${headers}${length}\r\n${body}`);
}

async function measureInterface(
  name: Interface,
  server: Server,
  seconds: number,
): Promise<InterfaceResult> {
  const { host } = new URL(server.url);
  const send: Send = (options) =>
    sendTraffic({ ...options, url: server.url, createRequest: () => createRequest(name, host) });
  const closedLoop = { seconds, rate: undefined, connectionsMax: CAPACITY_CONNECTIONS };
  const rates: number[] = [];
  for (let round = 0; round < CAPACITY_ROUNDS; round += 1) {
    rates.push((await send(closedLoop)).successMs.length / seconds);
  }
  const capacity = Math.max(...rates);
  console.log(`\n${name}: capacity ${capacity.toFixed(0)}/s`);
  print(
    'load',
    'offered',
    'goodput',
    'refused',
    'p50',
    'p99',
    'p99 refusal',
    'recovery',
    'statuses',
  );
  const loads: LoadResult[] = [];
  for (const factor of FACTORS) {
    const rate = capacity * factor;
    const traffic = await send({ seconds, rate, connectionsMax: CONNECTIONS_MAX });
    const result = toResult(traffic, { factor, rate, seconds }, await measureRecovery(send));
    loads.push(result);
    printResult(result, capacity, traffic);
  }
  const knee = loads.findLast(({ goodput, offered }) => goodput >= offered * KNEE_SHARE);
  const peakMegabytes = server.readPeakBytes() / 1_048_576;
  const kneeFactor = knee?.factor ?? 0;
  console.log(`knee at ${kneeFactor} x capacity; at most ${peakMegabytes.toFixed(0)} MiB`);
  return { name, capacity, kneeFactor, peakMegabytes, loads };
}

/** Returns the time until a request is answered fast. */
async function measureRecovery(send: Send): Promise<number> {
  const startedMs = systemClock.monotonicMs();
  for (;;) {
    const { successMs } = await send({ seconds: 0.001, rate: 1, connectionsMax: 1 });
    const elapsedMs = systemClock.monotonicMs() - startedMs;
    const hasRecovered = (successMs[0] ?? Infinity) <= RECOVERED_MS_MAX;
    if (hasRecovered || elapsedMs > RECOVERY_MS_MAX) return elapsedMs;
    await systemClock.sleep(PAUSE_MS);
  }
}

function toResult(
  { successMs, refusalMs }: Traffic,
  { factor, rate, seconds }: { factor: number; rate: number; seconds: number },
  recoveryMs: number,
): LoadResult {
  return {
    factor,
    offered: rate,
    goodput: successMs.filter((ms) => ms <= GOOD_MS_MAX).length / seconds,
    refused: refusalMs.length / seconds,
    p50Ms: findPercentile(successMs, 50) ?? NaN,
    p99Ms: findPercentile(successMs, 99) ?? NaN,
    refusalP99Ms: findPercentile(refusalMs, 99) ?? NaN,
    recoveryMs,
  };
}

function printResult(result: LoadResult, capacity: number, traffic: Traffic): void {
  const { factor, offered, goodput, refused, p50Ms, p99Ms, refusalP99Ms, recoveryMs } = result;
  const { statuses, unsent, refusedWithoutWait } = traffic;
  print(
    `${factor} x`,
    `${offered.toFixed(0)}/s`,
    `${goodput.toFixed(0)}/s ${((goodput / capacity) * 100).toFixed(0)}%`,
    `${refused.toFixed(0)}/s`,
    ...[p50Ms, p99Ms, refusalP99Ms, recoveryMs].map((ms) => `${ms.toFixed(0)} ms`),
    JSON.stringify(statuses).replaceAll('"', ''),
    ...(unsent > 0 ? [`${unsent} not sent`] : []),
    ...(refusedWithoutWait > 0 ? [`${refusedWithoutWait} without Retry-After`] : []),
  );
}

const print = (...columns: string[]): void =>
  console.log(columns.map((text) => text.padEnd(12)).join(' '));

/** Replaces the results of an interface in a file. */
function saveResult(file: string, result: InterfaceResult): void {
  const saved = existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as InterfaceResult[])
    : [];
  const others = saved.filter(({ name }) => name !== result.name);
  writeFileSync(file, `${JSON.stringify([...others, result], null, 2)}\n`);
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'string' }, seconds: { type: 'string', default: '5' } },
});
console.log(`${describeMachine()}; ${pinGenerator()}`);
for (const name of interfaces) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  const dataDir = mkdtempSync(join(tmpdir(), 'bench-overload-'));
  const server = await startServer(name, dataDir);
  if (server) {
    const result = await measureInterface(name, server, Number(values.seconds));
    if (values.json !== undefined) saveResult(values.json, result);
    await server.stop();
  }
  rmSync(dataDir, { recursive: true });
}
