/**
 * Measures the result endpoint of production sessions on SQLite and on PostgreSQL. Usage:
 * `node bench/results.ts [SESSIONS]` (default: 10000; about a minute).
 *
 * Both services run in this process with the same data, and each list is requested from both in turn.
 * A session has five turns and three outcomes.
 */
import { cpus } from 'node:os';
import { systemClock } from '../src/platform/clock.ts';
import { startService, type RunningService } from '../src/service/index.ts';
import { startDatabase } from './postgres.ts';

const BATCH = 5_000;
const ROUNDS = 15;
const LIMIT = 50;

const count = Number(process.argv[2] ?? 10_000);
const lists = {
  'first page': '',
  'first page with transcripts': 'include_traces=true',
  'by eval': 'eval=polite',
  'only failed': 'failed_only=true',
  'failed, by eval': 'failed_only=true&eval=polite',
  'by run': 'run=day+7',
  'by time': 'started_after=2026-10-10T00:00:00Z&started_before=2026-10-11T00:00:00Z',
  'no match': 'run=missing',
  'last page': `skip=${count - LIMIT}`,
};

/** Returns sessions of 30 days, one run each. */
function createSeed(from: number, size: number): object {
  const sessions = Array.from({ length: size }, (_, index) => {
    const nth = from + index;
    const time = new Date(Date.UTC(2026, 9, 1 + (nth % 30), 8, 0, 0, Math.floor(nth / 30)));
    return {
      ...{ nth, source_session_id: `conversation-${nth}`, started_at: time.toISOString() },
      outcomes: ['Polite', 'Order found', 'Short'].map((eval_name, position) => ({
        ...{ eval_name, outcome: (nth + position) % 11 === 0 ? 'fail' : 'pass' },
        reasoning: 'The agent said what was expected of it.',
      })),
      turns: Array.from({ length: 5 }, (_, turn) => ({
        user_input: `Where is parcel ${nth}, which I ordered ${turn} days ago? I need it this week.`,
        agent_response: 'Let me look it up. It has left the warehouse, and it arrives on Tuesday.',
      })),
    };
  });
  const byDay = Map.groupBy(sessions, ({ nth }) => nth % 30);
  return {
    runs: Array.from(byDay, ([day, group]) => ({
      name: `Live traces, day ${day}`,
      sessions: group.map(({ nth, ...session }) => session),
    })),
  };
}

/** Adds the sessions, and returns the milliseconds per session. */
async function fill({ adminUrl }: RunningService): Promise<number> {
  const startedMs = systemClock.monotonicMs();
  for (let from = 0; from < count; from += BATCH) {
    const response = await fetch(`${adminUrl}/seed`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(createSeed(from, Math.min(BATCH, count - from))),
    });
    if (!response.ok) throw new Error(`Seeding failed: ${await response.text()}`);
  }
  return (systemClock.monotonicMs() - startedMs) / count;
}

async function request({ url, apiKey }: RunningService, query: string): Promise<number> {
  const startedMs = systemClock.monotonicMs();
  const response = await fetch(`${url}/api/prod-evaluations/sessions/?limit=${LIMIT}&${query}`, {
    headers: { 'x-service-api-key': apiKey },
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${query} responded with ${response.status}: ${text}`);
  return systemClock.monotonicMs() - startedMs;
}

const median = (values: number[]): number =>
  values.sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? NaN;

const database = await startDatabase();
const services = [
  await startService({}),
  ...(database ? [await startService({ databaseUrl: database.url })] : []),
];
console.log(`node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}`);
console.log(`${count} sessions, pages of ${LIMIT}, median of ${ROUNDS} requests`);
console.log(['', 'sqlite', 'postgres', 'ratio'].map((title) => title.padStart(28)).join(''));
const print = (name: string, [sqlite = NaN, postgres = NaN]: number[]): void => {
  const columns = [`${sqlite.toFixed(2)} ms`, `${postgres.toFixed(2)} ms`];
  console.log(
    [name, ...columns, (postgres / sqlite).toFixed(2)].map((text) => text.padStart(28)).join(''),
  );
};
const filled: number[] = [];
for (const service of services) filled.push(await fill(service));
print('adding a session', filled);
for (const [name, query] of Object.entries(lists)) {
  const times = services.map((): number[] => []);
  for (let round = -2; round < ROUNDS; round += 1) {
    for (const [nth, service] of services.entries()) {
      const ms = await request(service, query);
      if (round >= 0) times[nth]?.push(ms);
    }
  }
  print(name, times.map(median));
}
for (const service of services) await service.stop();
await database?.remove();
