/**
 * Simulated turns a second against an agent that answers at once, beside the same requests sent by a
 * bare undici loop: `node bench/simulate.ts [rounds]`, half a minute by default.
 *
 * The agent runs in a process of its own. Each round runs the simulator, with users, evals, review
 * and report, then sends the very requests that it sent, as many at a time, and reads the answers.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cpus } from 'node:os';
import { Pool } from 'undici';
import type { Scenario } from '../src/contract/index.ts';
import { simulate } from '../src/service/index.ts';

const sessionsOfRound = 500;
const concurrency = 20;
const turns = 6;

const scenario: Scenario = {
  id: 'bench',
  name: 'Talks for six turns',
  samples: sessionsOfRound,
  user: {
    opening: 'Hello, where is my order?',
    facts: [{ name: 'order number', value: 'A-1001', asked_by: ['which order'] }],
    steps: Array.from({ length: turns - 1 }, (_, nth) => ({
      when: { contains: 'on its way' },
      say: `And what about order A-${1000 + nth}?`,
    })),
  },
  evals: [
    { id: 'told', name: 'Told', kind: 'contains', params: { text: 'on its way' } },
    { id: 'brief', name: 'Brief', kind: 'max_turns', params: { max: turns } },
  ],
};

/** A request as it was sent. */
interface Sent {
  method: 'GET' | 'POST' | 'DELETE';
  path: string;
  body: string | null;
}

/** How fast a round went. */
interface Rate {
  perSecond: number;
  /** Microseconds of processor time that this process spent on a turn. */
  cpuMicros: number;
}

/** Measures from now until it is asked. */
function measured(sessions: number): () => Rate {
  const [startedMs, before] = [performance.now(), process.cpuUsage()];
  return () => {
    const { user, system } = process.cpuUsage(before);
    const count = sessions * turns;
    const perSecond = count / ((performance.now() - startedMs) / 1000);
    return { perSecond, cpuMicros: (user + system) / count };
  };
}

/** The requests of one session, in order. */
type Recorded = Sent[][];

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += String(chunk);
  return text;
}

const timestamp = '2026-11-20T09:30:00Z';
const answers: Record<string, string> = {
  GET: JSON.stringify({ status: 'healthy', timestamp }),
  DELETE: JSON.stringify({ user_id: 'sim_user_1', deleted_at: timestamp, status: 'deleted' }),
  POST: JSON.stringify({
    choices: [{ index: 0, message: { role: 'assistant', content: 'It is on its way.' } }],
  }),
};

/** The agent: answers at once, always the same; with `record` it keeps what it was sent. */
function serve(): void {
  let kept: Sent[] | undefined;
  const server = createServer((request, response) => {
    const { method = '', url = '' } = request;
    const reply = (): void => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(answers[method]);
    };
    void textOf(request).then((body) => {
      kept?.push({ method: method as Sent['method'], path: url, body: body || null });
      reply();
    });
  });
  process.on('message', (message) => {
    if (message === 'record') kept = [];
    else {
      process.send?.(kept ?? []);
      kept = undefined;
    }
  });
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
}

async function simulated(url: string, samples = sessionsOfRound): Promise<Rate> {
  const stop = measured(samples);
  const report = await simulate({
    ...{ sandbox: url, scenarios: [scenario], personas: [], evals: [], samples, concurrency },
    ...{ seed: 'bench', kitVersion: 'bench' },
  });
  if (report.counts.passed !== samples) throw new Error('a session of the benchmark failed');
  return stop();
}

/** Sends the requests of each session one after the other, so many sessions at a time. */
async function bare(url: string, recorded: Recorded): Promise<Rate> {
  const pool = new Pool(url, { connections: concurrency, pipelining: 1 });
  const stop = measured(recorded.length);
  let next = 0;
  const place = async (): Promise<void> => {
    for (let own = recorded[next++]; own; own = recorded[next++]) {
      for (const { method, path, body } of own) {
        const headers = body === null ? {} : { 'content-type': 'application/json' };
        const answer = await pool.request({ method, path, headers, body });
        JSON.parse(await answer.body.text());
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, place));
  const rate = stop();
  await pool.close();
  return rate;
}

/** The requests of a round, session by session: of one session, by its user and its session id. */
async function record(url: string, agent: ChildProcess): Promise<Recorded> {
  const sessions: Recorded = [];
  for (let nth = 0; nth < 20; nth += 1) {
    agent.send('record');
    await simulated(url, 1);
    agent.send('stop');
    const [sent] = (await once(agent, 'message')) as [Sent[]];
    sessions.push(sent);
  }
  return Array.from({ length: sessionsOfRound }, (_, nth) => sessions[nth % 20] ?? []);
}

function median(values: number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? NaN;
}

async function run(rounds: number): Promise<void> {
  console.log(`node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}`);
  const agent = fork(import.meta.filename, ['serve']);
  const [port] = (await once(agent, 'message')) as [number];
  const url = `http://127.0.0.1:${port}`;
  const recorded = await record(url, agent);
  await simulated(url);
  await bare(url, recorded);
  const rates = [];
  for (let nth = 1; nth <= rounds; nth += 1) {
    const one = { simulated: await simulated(url), bare: await bare(url, recorded) };
    rates.push(one);
    const shown = Object.entries(one).map(([name, rate]) => {
      return `${name} ${Math.round(rate.perSecond)} (${rate.cpuMicros.toFixed(0)} us cpu)`;
    });
    console.log(`round ${nth}, turns/s: ${shown.join(', ')}`);
  }
  agent.kill();
  const ratio = median(rates.map((one) => one.simulated.perSecond / one.bare.perSecond));
  console.log(
    `median: ${Math.round(median(rates.map((one) => one.simulated.perSecond)))} simulated turns/s, ` +
      `${ratio.toFixed(2)} of the bare loop's (${sessionsOfRound} sessions of ${turns} turns, ${concurrency} at a time)`,
  );
}

const [verb = '9'] = process.argv.slice(2);
if (verb === 'serve') serve();
else await run(Number(verb));
