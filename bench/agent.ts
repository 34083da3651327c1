/**
 * How many chat requests a second the reference agent answers, beside a bare fastify route that
 * sends the same bytes. `node bench/agent.ts [seconds a shot]`, under a minute by default.
 *
 * Each server has a process of its own and is warmed up; in every round all are shot at in turn, so
 * that a machine that gets slower meanwhile does so for all. The servers between the two do a bit
 * more each, and so tell where the rest goes. A machine with two processors gives one to the
 * client; where others use it too, the processor time of a request says more than the rate.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { cpus } from 'node:os';
import { fastify } from 'fastify';
import { chat } from '../reference-agent/chat.ts';
import { startAgent } from '../reference-agent/index.ts';
import { speakTheContract } from '../reference-agent/wire.ts';
import { schemas, type ChatRequest } from '../src/contract/index.ts';
import { silentLog } from '../src/platform/log.ts';

interface Shot {
  requests: { average: number; total: number };
  latency: { p99: number };
  non2xx: number;
  errors: number;
}

// The package brings no types.
const autocannon = createRequire(import.meta.url)('autocannon') as (
  options: Record<string, unknown>,
) => Promise<Shot>;

const roundsMax = 4;
const path = '/v1/chat/completions';
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
const chatDeps = { seed: 'reference', customerName: () => undefined, prompter: undefined };
const answer = JSON.stringify(chat(chatDeps, request).response(0));

/** What each server does; every one answers the same bytes. */
const servers: Record<string, () => Promise<string>> = {
  bare: async () => {
    const app = fastify();
    app.post(path, (_request, reply) => reply.type('application/json; charset=utf-8').send(answer));
    return app.listen();
  },
  '+ stringify': async () => {
    const app = fastify();
    const value = JSON.parse(answer) as object;
    app.post(path, () => value);
    return app.listen();
  },
  '+ validation': async () => {
    const app = fastify();
    speakTheContract(app, silentLog);
    const value = JSON.parse(answer) as object;
    app.post(path, { schema: { body: schemas.ChatRequest } }, () => value);
    return app.listen();
  },
  '+ dialogue': async () => {
    const app = fastify();
    speakTheContract(app, silentLog);
    const schema = { body: schemas.ChatRequest };
    app.post<{ Body: ChatRequest }>(path, { schema }, ({ body }) =>
      chat(chatDeps, body).response(0),
    );
    return app.listen();
  },
  // All of it: the faults asked, the clock read, the journal kept.
  agent: async () => (await startAgent()).url,
};

interface Running {
  name: string;
  url: string;
  process: ChildProcess;
}

interface Round {
  perSecond: number;
  p99Ms: number;
  /** Microseconds of processor time that the server spent on a request. */
  cpuMicros: number;
}

async function spawnServer(name: string): Promise<Running> {
  const server = fork(import.meta.filename, ['serve', name]);
  const [url] = (await once(server, 'message')) as [string];
  return { name, url, process: server };
}

async function shoot({ url, process: server }: Running, seconds: number): Promise<Round> {
  const cpuOf = async (): Promise<number> => {
    server.send('cpu');
    return ((await once(server, 'message')) as [number])[0];
  };
  const before = await cpuOf();
  const shot = await autocannon({
    url: url + path,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request),
    connections: 50,
    duration: seconds,
  });
  if (shot.non2xx + shot.errors > 0) throw new Error('a request of the benchmark failed');
  return {
    perSecond: shot.requests.average,
    p99Ms: shot.latency.p99,
    cpuMicros: ((await cpuOf()) - before) / shot.requests.total,
  };
}

async function run(seconds: number): Promise<void> {
  console.log(`node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}`);
  const running: Running[] = [];
  for (const name of Object.keys(servers)) running.push(await spawnServer(name));
  for (const server of running) await shoot(server, seconds);

  const rounds = new Map(running.map(({ name }) => [name, [] as Round[]]));
  for (let nth = 1; nth <= roundsMax; nth += 1) {
    for (const server of running) rounds.get(server.name)?.push(await shoot(server, seconds));
    const line = [...rounds].map(
      ([name, shots]) => `${name} ${Math.round(shots.at(-1)?.perSecond ?? 0)}`,
    );
    console.log(`round ${nth}, requests/s: ${line.join(', ')}`);
  }
  for (const server of running) server.process.kill();

  const bare = rounds.get('bare') ?? [];
  console.log('medians:   requests/s  to bare  p99 ms  cpu us/request');
  for (const [name, shots] of rounds) {
    const ratios = shots.map(({ perSecond }, nth) => perSecond / (bare[nth]?.perSecond ?? NaN));
    const columns = [
      name.padEnd(13),
      median(shots.map(({ perSecond }) => perSecond))
        .toFixed(0)
        .padStart(8),
      median(ratios).toFixed(2).padStart(8),
      median(shots.map(({ p99Ms }) => p99Ms))
        .toFixed(0)
        .padStart(7),
      median(shots.map(({ cpuMicros }) => cpuMicros))
        .toFixed(1)
        .padStart(15),
    ];
    console.log(columns.join(' '));
  }
}

function median(values: number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? NaN;
}

async function serve(name: string): Promise<void> {
  const start = servers[name];
  if (!start) throw new Error(`there is no server ${name}`);
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send?.(user + system);
  });
  process.send?.(await start());
}

const [verb = '2', name = ''] = process.argv.slice(2);
if (verb === 'serve') await serve(name);
else await run(Number(verb));
