/**
 * Measures the throughput of the reference agent's chat route against a bare Fastify route that
 * sends the same bytes. Usage: `node bench/agent.ts [SECONDS_PER_RUN]` (default: 2; under a minute).
 *
 * Each server runs in its own process and is warmed up. Every round measures all servers in turn, so
 * that a machine that slows down affects all of them. The servers in between add one step each and
 * show what each step costs. On a busy machine, compare the CPU time per request instead of the rate.
 *
 * `node bench/agent.ts --requests N` sends that many requests to the agent instead, and prints by how
 * much its memory grows per request (Linux; 10 million take about 10 minutes).
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { fastify } from 'fastify';
import { replyToChat } from '../reference-agent/chat.ts';
import { startAgent } from '../reference-agent/index.ts';
import { createAgentServer } from '../reference-agent/server.ts';
import { schemas, type ChatRequest } from '../src/contract/index.ts';
import { silentLog } from '../src/platform/log.ts';
import { mean } from '../src/platform/mean.ts';
import { readChildCpuMicros, reportCpuTime } from './cpu-time.ts';
import { describeMachine, median } from './machine.ts';
import { readMemoryBytes } from './processes.ts';

interface LoadResult {
  requests: { average: number; total: number };
  latency: { p99: number };
  non2xx: number;
  errors: number;
}

// The package has no type declarations.
const autocannon = createRequire(import.meta.url)('autocannon') as (
  options: Record<string, unknown>,
) => Promise<LoadResult>;

const ROUNDS = 4;
const CHAT_PATH = '/v1/chat/completions';
const request: ChatRequest = {
  session_id: 'bench-1',
  user_id: 'sim_user_bench',
  messages: [
    { role: 'system', content: 'The customer calls in the evening.' },
    { role: 'user', content: 'Hello, I bought a mug and it is not here yet.' },
    { role: 'assistant', content: 'Which order is it about?' },
    { role: 'user', content: 'Where is order A-1001?' },
  ],
  metadata: { scenario_id: 'late-parcel', persona: 'patient' },
};
const chatOptions = { seed: 'reference', findCustomerName: () => undefined, script: undefined };
const responseText = JSON.stringify(replyToChat(chatOptions, request).createResponse(0));

/** The servers to compare. All of them respond with the same bytes. */
const servers: Record<string, () => Promise<string>> = {
  bare: async () => {
    const app = fastify();
    app.post(CHAT_PATH, (_request, reply) =>
      reply.type('application/json; charset=utf-8').send(responseText),
    );
    return app.listen();
  },
  '+ stringify': async () => {
    const app = fastify();
    const value = JSON.parse(responseText) as object;
    app.post(CHAT_PATH, () => value);
    return app.listen();
  },
  '+ validation': async () => {
    const app = createAgentServer(silentLog, undefined);
    const value = JSON.parse(responseText) as object;
    app.post(CHAT_PATH, { schema: { body: schemas.ChatRequest } }, () => value);
    return app.listen();
  },
  '+ dialogue': async () => {
    const app = createAgentServer(silentLog, undefined);
    const schema = { body: schemas.ChatRequest };
    app.post<{ Body: ChatRequest }>(CHAT_PATH, { schema }, ({ body }) =>
      replyToChat(chatOptions, body).createResponse(0),
    );
    return app.listen();
  },
  // Adds fault injection, the clock and the journal.
  agent: async () => (await startAgent()).url,
};

interface ServerProcess {
  name: string;
  url: string;
  process: ChildProcess;
}

interface Round {
  perSecond: number;
  p99Ms: number;
  /** CPU time of the server per request, in microseconds. */
  cpuMicros: number;
}

async function spawnServer(name: string): Promise<ServerProcess> {
  const server = fork(import.meta.filename, ['serve', name]);
  const [url] = (await once(server, 'message')) as [string];
  return { name, url, process: server };
}

/** Sends requests for a time in seconds, or a number of them. */
async function send(
  { url }: ServerProcess,
  size: { duration: number } | { amount: number },
): Promise<LoadResult> {
  const result = await autocannon({
    url: url + CHAT_PATH,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request),
    connections: 50,
    ...size,
  });
  if (result.non2xx + result.errors > 0) throw new Error('A benchmark request failed.');
  return result;
}

async function measure(server: ServerProcess, seconds: number): Promise<Round> {
  const before = await readChildCpuMicros(server.process);
  const result = await send(server, { duration: seconds });
  return {
    perSecond: result.requests.average,
    p99Ms: result.latency.p99,
    cpuMicros: ((await readChildCpuMicros(server.process)) - before) / result.requests.total,
  };
}

/** Parts of a measurement of memory. The first ones fill the journal and warm up the agent. */
const PARTS = 20;
const WARM_UP_PARTS = 5;

/** Prints the memory of the agent after each part of its requests, and its growth per request. */
async function measureMemory(requests: number): Promise<void> {
  console.log(describeMachine());
  const server = await spawnServer('agent');
  const points: { sent: number; bytes: number }[] = [];
  for (let part = 1; part <= PARTS; part += 1) {
    await send(server, { amount: Math.ceil(requests / PARTS) });
    const bytes = readMemoryBytes(server.process.pid, 'VmRSS');
    const point = { sent: (part * requests) / PARTS, bytes };
    console.log(`${point.sent} requests: ${(point.bytes / 1e6).toFixed(1)} MB`);
    points.push(point);
  }
  server.process.kill();
  const growth = slopeOf(points.slice(WARM_UP_PARTS));
  console.log(`growth: ${growth.toFixed(3)} bytes per request`);
}

/** Returns the slope of the line that fits points best. */
function slopeOf(points: readonly { sent: number; bytes: number }[]): number {
  const [sentMean, bytesMean] = [
    mean(points.map(({ sent }) => sent)),
    mean(points.map(({ bytes }) => bytes)),
  ];
  return (
    mean(points.map(({ sent, bytes }) => (sent - sentMean) * (bytes - bytesMean))) /
    mean(points.map(({ sent }) => (sent - sentMean) ** 2))
  );
}

async function run(seconds: number): Promise<void> {
  console.log(describeMachine());
  const running: ServerProcess[] = [];
  for (const name of Object.keys(servers)) running.push(await spawnServer(name));
  for (const server of running) await measure(server, seconds);

  const rounds = new Map(running.map(({ name }) => [name, [] as Round[]]));
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (const server of running) rounds.get(server.name)?.push(await measure(server, seconds));
    const line = [...rounds].map(
      ([name, results]) => `${name} ${Math.round(results.at(-1)?.perSecond ?? 0)}`,
    );
    console.log(`round ${round}, requests/s: ${line.join(', ')}`);
  }
  for (const server of running) server.process.kill();

  const bare = rounds.get('bare') ?? [];
  console.log('medians:   requests/s  to bare  p99 ms  cpu us/request');
  for (const [name, results] of rounds) {
    const ratios = results.map(
      ({ perSecond }, index) => perSecond / (bare[index]?.perSecond ?? NaN),
    );
    const columns = [
      name.padEnd(13),
      median(results.map(({ perSecond }) => perSecond))
        .toFixed(0)
        .padStart(8),
      median(ratios).toFixed(2).padStart(8),
      median(results.map(({ p99Ms }) => p99Ms))
        .toFixed(0)
        .padStart(7),
      median(results.map(({ cpuMicros }) => cpuMicros))
        .toFixed(1)
        .padStart(15),
    ];
    console.log(columns.join(' '));
  }
}

async function serve(name: string): Promise<void> {
  const start = servers[name];
  if (!start) throw new Error(`Unknown server ${name}.`);
  reportCpuTime();
  process.send?.(await start());
}

const [command = '2', name = ''] = process.argv.slice(2);
if (command === 'serve') await serve(name);
else if (command === '--requests') await measureMemory(Number(name));
else await run(Number(command));
