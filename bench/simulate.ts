/**
 * Measures simulated turns per second against an agent that responds immediately, and compares them
 * with a bare undici loop that sends the same requests. Usage: `node bench/simulate.ts [ROUNDS]`
 * (default: 9; about half a minute).
 *
 * The agent runs in its own process. Each round runs the simulator (users, evals, adherence,
 * report), then replays the recorded requests with the same concurrency and reads the responses.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { Pool } from 'undici';
import type { Scenario } from '../src/contract/index.ts';
import { simulate } from '../src/service/index.ts';
import { readCpuMicros } from './cpu-time.ts';
import { describeMachine, median } from './machine.ts';

const SESSIONS_PER_ROUND = 500;
const SESSIONS_RECORDED = 20;
const CONCURRENCY = 20;
const TURNS = 6;

const scenario: Scenario = {
  id: 'bench',
  name: 'Talks for six turns',
  samples: SESSIONS_PER_ROUND,
  user: {
    opening: 'Hello, where is my order?',
    facts: [{ name: 'order number', value: 'A-1001', asked_by: ['which order'] }],
    steps: Array.from({ length: TURNS - 1 }, (_, index) => ({
      when: { contains: 'on its way' },
      say: `And what about order A-${1000 + index}?`,
    })),
  },
  evals: [
    { id: 'status', name: 'States the status', kind: 'contains', params: { text: 'on its way' } },
    { id: 'brief', name: 'Brief', kind: 'max_turns', params: { max: TURNS } },
  ],
};

interface RecordedRequest {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  body: string | null;
}

interface Rate {
  perSecond: number;
  /** CPU time of this process per turn, in microseconds. */
  cpuMicros: number;
}

/** Starts a measurement. Returns a function that ends it. */
function startMeasuring(sessions: number): () => Rate {
  const [startedMs, before] = [performance.now(), readCpuMicros()];
  return () => {
    const count = sessions * TURNS;
    const perSecond = count / ((performance.now() - startedMs) / 1000);
    return { perSecond, cpuMicros: (readCpuMicros() - before) / count };
  };
}

/** The requests of each session, in order. */
type Recording = RecordedRequest[][];

const timestamp = '2026-11-20T09:30:00Z';
const responseBodies: Record<string, string> = {
  GET: JSON.stringify({ status: 'healthy', timestamp }),
  DELETE: JSON.stringify({ user_id: 'sim_user_1', deleted_at: timestamp, status: 'deleted' }),
  POST: JSON.stringify({
    choices: [{ index: 0, message: { role: 'assistant', content: 'It is on its way.' } }],
  }),
};

/** Runs the agent. It records requests from the message `record` until the next message. */
function serve(): void {
  let recorded: RecordedRequest[] | undefined;
  const server = createServer((request, response) => {
    const { method = '', url = '' } = request;
    const reply = (): void => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(responseBodies[method]);
    };
    void readText(request).then((body) => {
      recorded?.push({
        method: method as RecordedRequest['method'],
        path: url,
        body: body || null,
      });
      reply();
    });
  });
  process.on('message', (message) => {
    if (message === 'record') recorded = [];
    else {
      process.send?.(recorded ?? []);
      recorded = undefined;
    }
  });
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
}

async function measureSimulator(url: string, samples = SESSIONS_PER_ROUND): Promise<Rate> {
  const stop = startMeasuring(samples);
  const report = await simulate({
    sandbox: url,
    scenarios: [scenario],
    personas: [],
    evals: [],
    samples,
    concurrency: CONCURRENCY,
    seed: 'bench',
    kitVersion: 'bench',
  });
  if (report.counts.passed !== samples) throw new Error('A session of the benchmark failed.');
  return stop();
}

/** Replays the sessions concurrently, the requests within a session in sequence. */
async function measureBareLoop(url: string, recorded: Recording): Promise<Rate> {
  const pool = new Pool(url, { connections: CONCURRENCY, pipelining: 1 });
  const stop = startMeasuring(recorded.length);
  let next = 0;
  const replaySessions = async (): Promise<void> => {
    for (let session = recorded[next++]; session; session = recorded[next++]) {
      for (const { method, path, body } of session) {
        const headers = body === null ? {} : { 'content-type': 'application/json' };
        const response = await pool.request({ method, path, headers, body });
        JSON.parse(await response.body.text());
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, replaySessions));
  const rate = stop();
  await pool.close();
  return rate;
}

/** Records a few sessions and repeats them until there are enough for a round. */
async function recordRequests(url: string, agent: ChildProcess): Promise<Recording> {
  const sessions: Recording = [];
  for (let index = 0; index < SESSIONS_RECORDED; index += 1) {
    agent.send('record');
    await measureSimulator(url, 1);
    agent.send('stop');
    const [requests] = (await once(agent, 'message')) as [RecordedRequest[]];
    sessions.push(requests);
  }
  return Array.from(
    { length: SESSIONS_PER_ROUND },
    (_, index) => sessions[index % SESSIONS_RECORDED] ?? [],
  );
}

async function run(rounds: number): Promise<void> {
  console.log(describeMachine());
  const agent = fork(import.meta.filename, ['serve']);
  const [port] = (await once(agent, 'message')) as [number];
  const url = `http://127.0.0.1:${port}`;
  const recorded = await recordRequests(url, agent);
  await measureSimulator(url);
  await measureBareLoop(url, recorded);
  const rates = [];
  for (let round = 1; round <= rounds; round += 1) {
    const rate = {
      simulated: await measureSimulator(url),
      bare: await measureBareLoop(url, recorded),
    };
    rates.push(rate);
    const columns = Object.entries(rate).map(([name, { perSecond, cpuMicros }]) => {
      return `${name} ${Math.round(perSecond)} (${cpuMicros.toFixed(0)} us cpu)`;
    });
    console.log(`round ${round}, turns/s: ${columns.join(', ')}`);
  }
  agent.kill();
  const ratio = median(rates.map(({ simulated, bare }) => simulated.perSecond / bare.perSecond));
  console.log(
    `median: ${Math.round(median(rates.map(({ simulated }) => simulated.perSecond)))} simulated turns/s, ` +
      `${ratio.toFixed(2)} of the bare loop (${SESSIONS_PER_ROUND} sessions of ${TURNS} turns, ${CONCURRENCY} at a time)`,
  );
}

const [command = '9'] = process.argv.slice(2);
if (command === 'serve') serve();
else await run(Number(command));
