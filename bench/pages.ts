/**
 * Measures the pages of the service with few and with many sessions. Usage:
 * `node bench/pages.ts [SESSIONS]` (default: 100000; a few minutes).
 *
 * Both services run in this process, and each page is requested from both in turn, so that other load
 * on the machine affects both. A page is slow if both its time and its processor time exceed the limit.
 */
import { schemas } from '../src/contract/index.ts';
import { createKitFunctions } from '../library/kit-functions.ts';
import { startService, type RunningService } from '../src/service/index.ts';
import { systemClock } from '../src/platform/clock.ts';
import { readCpuMicros } from './cpu-time.ts';
import { median } from './machine.ts';
import { post } from './post.ts';

const FEW = 1_000;
const BATCH = 5_000;
const ROUNDS = 15;
const MS_MAX = 100;
const BYTES_MAX = 60_000;
const REPORTS = 50;
const AGENT_URL = 'https://shop.example/agent';

/** Stands for the page of a session in the middle of a search. */
const SESSION = 'the page of a session, with its neighbors in a search';

const paths = [
  '/',
  '/exporters',
  '/sessions?kind=production',
  '/sessions?kind=production&failed_only=true&eval=polite',
  '/sessions?kind=production&skip=900',
  '/sessions?kind=production&text=parcel+7',
  '/sessions?kind=production&text=not+said',
  '/sessions?kind=production&tag=tier%3Dgold&outcome=failed',
  '/sessions?kind=production&tag=missing',
  '/sessions?kind=production&outcome=errored',
  '/sessions?kind=production&outcome=unfinished',
  '/search?q=parcel+7',
  '/search?q=not+said',
  '/sessions?kind=open',
  '/sessions?kind=unscored',
  SESSION,
  '/sessions?kind=simulation',
  '/runs?kind=production',
  '/runs?kind=simulation',
  '/runs?kind=production&owner=large',
  '/runs?kind=simulation&owner=large',
  '/production-eval/RUN-A?owner=large',
  '/simulation/large-a?owner=large',
  '/compare?a=RUN-A&b=RUN-B&owner=large',
  '/compare?a=large-a&b=large-b&owner=large',
  '/agents',
  '/agents/agent-0',
  '/agents/agent-0/readiness',
  '/scenarios',
  '/scenarios?q=parcel-99',
  '/scenarios/parcel-0',
  '/personas',
  '/evals',
  '/evals?skip=950',
  '/evals/edit?id=polite',
  '/settings',
  '/keys',
  '/transcripts',
];

async function startWith(count: number): Promise<RunningService> {
  const service = await startService({ kit: createKitFunctions() });
  await post(`${service.adminUrl}/seed`, createDocuments(Math.min(1_000, count / 10)));
  const [loadReport, checkReport] = [
    schemas.LoadReport.examples[0],
    schemas.CheckReport.examples[0],
  ];
  const reports = `${service.adminUrl}/agents/agent-0/reports`;
  for (let nth = 0; nth < REPORTS; nth += 1) {
    await post(reports, { ...loadReport, sandbox: AGENT_URL });
  }
  await post(reports, { ...checkReport, target: AGENT_URL });
  for (let from = 0; from < count; from += BATCH) {
    const size = Math.min(BATCH, count - from);
    await post(`${service.adminUrl}/seed`, createSeed(from, size));
    await sendOpenConversations(service, from, size / 5);
    process.stderr.write(`\r${from + size} of ${count} sessions `);
  }
  await post(`${service.adminUrl}/seed?owner=large`, {});
  await addLargeRuns(service, count);
  process.stderr.write('\n');
  return service;
}

/** Adds two runs and two simulations with all sessions in each, to a separate owner. */
async function addLargeRuns(service: RunningService, count: number): Promise<void> {
  for (let from = 0; from < count; from += BATCH) {
    const size = Math.min(BATCH, count - from);
    for (const name of ['a', 'b'] as const) {
      await post(`${service.adminUrl}/seed?owner=large`, createLargeSeed(name, from, size));
    }
  }
}

/** Returns sessions of one run and of one simulation with 20 scenarios; in the later ones more fail. */
function createLargeSeed(name: 'a' | 'b', from: number, count: number): object {
  const sessions = Array.from({ length: count }, (_, index) => {
    const nth = from + index;
    const outcomes = ['Polite', 'Order found', 'Short'].map((evalName, position) => ({
      eval_name: evalName,
      outcome: (nth + position) % (name === 'a' ? 20_000 : 7) === 0 ? 'fail' : 'pass',
      reasoning: 'The agent said what was expected of it.',
    }));
    const time = new Date(Date.UTC(2026, 9, name === 'a' ? 1 : 2, 8, 0, 0, nth));
    return { nth, started_at: time.toISOString(), outcomes };
  });
  return {
    runs: [
      {
        name: `Large ${name}`,
        sessions: sessions.map(({ nth, started_at, outcomes }) => ({
          source_session_id: `large-${name}-${nth}`,
          started_at,
          outcomes,
        })),
      },
    ],
    simulations: [
      {
        id: `large-${name}`,
        name: `Large ${name}`,
        agent: 'Shop agent',
        sessions: sessions.map(({ nth, started_at, outcomes }) => ({
          id: `large-${name}-${nth}`,
          scenario: `parcel-${nth % 20}`,
          persona: 'calm',
          started_at,
          ended_at: started_at,
          outcomes,
          turns: nth < 1_000 ? createTurns(nth) : [],
        })),
      },
    ],
  };
}

/** Returns the ids of the two large runs, the earlier one first. */
async function findLargeRuns({ url }: RunningService): Promise<readonly [string, string]> {
  const list = await (await fetch(`${url}/runs?kind=production&owner=large`)).text();
  const [later = '', earlier = ''] = Array.from(
    list.matchAll(/href="\/production-eval\/(\d+)/g),
    ([, id = '']) => id,
  );
  return [earlier, later];
}

/** Returns scenarios with their personas, and agents, one of them with simulations. */
function createDocuments(count: number): object {
  const numbers = Array.from({ length: count }, (_, nth) => nth);
  const evalNames = [
    'Polite',
    'Order found',
    'Short',
    ...numbers.slice(3).map((nth) => `Eval ${nth}`),
  ];
  return {
    evals: evalNames.map((name) => ({
      id: name.toLowerCase().replace(' ', '-'),
      name,
      kind: 'contains',
      params: { text: name },
    })),
    keys: numbers.map((nth) => ({ key: `key-number-${nth}`, label: `Key ${nth}` })),
    agents: numbers.map((nth) => ({
      id: `agent-${nth}`,
      name: nth === 0 ? 'Shop agent' : `Agent ${nth}`,
      url: AGENT_URL,
    })),
    personas: numbers.map((nth) => ({
      id: `persona-${nth}`,
      name: `Persona ${nth}`,
      characteristics: 'Friendly, buys here now and then, says one thing at a time.',
    })),
    scenarios: numbers.map((nth) => ({
      id: `parcel-${nth}`,
      name: `Asks about parcel ${nth}`,
      persona: `persona-${nth}`,
      user: {
        goal: 'Know when the parcel arrives.',
        opening: 'Where is my parcel?',
        steps: Array.from({ length: 10 }, () => ({ say: 'And when does it arrive, please?' })),
      },
      evals: [{ id: 'when', name: 'Says when', kind: 'contains', params: { text: 'tomorrow' } }],
    })),
  };
}

/** Returns sessions of 30 days: nine of ten from production, one from a simulation. */
function createSeed(from: number, count: number): object {
  const sessions = Array.from({ length: count }, (_, index) => {
    const nth = from + index;
    const day = 1 + (nth % 30);
    const time = new Date(Date.UTC(2026, 9, day, 8, nth % 60, Math.floor(nth / 60) % 60));
    const outcomes = ['Polite', 'Order found', 'Short'].map((name, position) => ({
      eval_name: name,
      outcome: (nth + position) % 11 === 0 ? 'fail' : 'pass',
      reasoning: 'The agent said what was expected of it.',
    }));
    return { nth, day, started_at: time.toISOString(), outcomes };
  });
  const production = sessions.filter(({ nth }) => nth % 10 > 0);
  const runs = [...Map.groupBy(production, ({ day }) => day)].map(([day, group]) => ({
    name: `Live traces 2026-10-${String(day).padStart(2, '0')}`,
    sessions: group.map(({ nth, started_at, outcomes }) => ({
      source_session_id: `conversation-${nth}`,
      started_at,
      outcomes,
      metadata: { tier: nth % 5 === 0 ? 'gold' : 'plain' },
      turns: createTurns(nth),
    })),
  }));
  const simulated = sessions.filter(({ nth }) => nth % 10 === 0);
  return {
    runs,
    simulations: [
      {
        id: `sim-${from}`,
        name: `Nightly ${from}`,
        agent: 'Shop agent',
        sessions: simulated.map(({ nth, started_at, outcomes }) => ({
          id: `ses-${nth}`,
          scenario: 'late-parcel',
          persona: 'calm',
          started_at,
          ended_at: started_at,
          outcomes,
          turns: createTurns(nth),
        })),
      },
    ],
  };
}

/** Returns five turns of a conversation about a parcel. */
function createTurns(nth: number): object[] {
  return Array.from({ length: 5 }, (_, turn) => ({
    user_input: `Where is parcel ${nth}, which I ordered ${turn} days ago? I need it this week.`,
    agent_response: 'Let me look it up. It has left the warehouse, and it arrives on Tuesday.',
  }));
}

/** Sends conversations of one span that stay open. */
async function sendOpenConversations(service: RunningService, from: number, count: number) {
  const conversations = Array.from({ length: count }, (_, index) => (from + index).toString(16));
  const spans = conversations.map((id) => ({
    traceId: id.padStart(32, 'f'),
    spanId: id.padStart(16, 'f'),
    name: 'chat',
    kind: 3,
    startTimeUnixNano: '1760000000000000000',
    endTimeUnixNano: '1760000001000000000',
    attributes: [
      { key: 'gen_ai.operation.name', value: { stringValue: 'chat' } },
      { key: 'gen_ai.conversation.id', value: { stringValue: `open-${id}` } },
      { key: 'tier', value: { stringValue: 'gold' } },
    ],
  }));
  const body = { resourceSpans: [{ scopeSpans: [{ spans }] }] };
  await post(`${service.url}/v1/traces`, body, { 'x-service-api-key': service.apiKey });
}

/** Returns the path of the tenth session that a search finds. */
async function findSessionPath({ url }: RunningService): Promise<string> {
  const list = await (await fetch(`${url}/sessions?kind=production&text=parcel+7`)).text();
  const links = Array.from(
    list.matchAll(/href="(\/production-eval[^"]*)"/g),
    ([, link = '']) => link,
  );
  return (links[9] ?? '').replaceAll('&amp;', '&');
}

interface Measurement {
  ms: number;
  /** The time of processors, which other load on the machine does not change. */
  cpuMs: number;
  bytes: number;
}

async function measure(url: string): Promise<Measurement> {
  const [startedMs, startedCpu] = [systemClock.monotonicMs(), readCpuMicros()];
  const response = await fetch(url, { headers: { accept: 'text/html' } });
  const { length } = await response.text();
  if (!response.ok) throw new Error(`${url} responded with ${response.status}.`);
  return {
    ms: systemClock.monotonicMs() - startedMs,
    cpuMs: (readCpuMicros() - startedCpu) / 1_000,
    bytes: length,
  };
}

const count = Number(process.argv[2] ?? 100_000);
const [small, large] = [await startWith(FEW), await startWith(count)];
console.log(`Pages with ${FEW} and ${count} sessions, median of ${ROUNDS} requests`);
const sessionPaths = [await findSessionPath(small), await findSessionPath(large)] as const;
const largeRuns = [await findLargeRuns(small), await findLargeRuns(large)] as const;
const fillIn = (path: string, [a, b]: readonly [string, string]): string =>
  path.replace('RUN-A', a).replace('RUN-B', b);
for (const path of paths) {
  const [smallPath, largePath] =
    path === SESSION ? sessionPaths : largeRuns.map((ids) => fillIn(path, ids));
  const times: [number[], number[]] = [[], []];
  const cpuTimes: number[] = [];
  let bytes = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    times[0].push((await measure(small.url + smallPath)).ms);
    const measured = await measure(large.url + largePath);
    times[1].push(measured.ms);
    cpuTimes.push(measured.cpuMs);
    ({ bytes } = measured);
  }
  const [few, many] = [median(times[0]), median(times[1])];
  const cpuMs = median(cpuTimes);
  const isMet = Math.min(many, cpuMs) <= MS_MAX && bytes <= BYTES_MAX;
  console.log(
    `${isMet ? 'ok  ' : 'MISS'} ${few.toFixed(1).padStart(6)} ms ${many.toFixed(1).padStart(7)} ms` +
      `  ratio ${(many / few).toFixed(1).padStart(5)}  processors ${cpuMs.toFixed(1).padStart(6)} ms  ${(bytes / 1000).toFixed(0).padStart(4)} kB  ${path}`,
  );
}
await Promise.all([small.stop(), large.stop()]);
