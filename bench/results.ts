/**
 * Measures the lists of results on SQLite and on PostgreSQL. Usage:
 * `node bench/results.ts [SESSIONS]... [--data DIR]` (default: 10000; 1,000,000 take half an hour).
 *
 * Both services run in this process with the same data, and each list is requested from both in turn.
 * With `--data`, the data is kept in this directory, and in the databases `bench_results_SESSIONS` of
 * the server that `SANDBOX_KIT_TEST_DATABASE_URL` names; the next run uses it again.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { systemClock } from '../src/platform/clock.ts';
import { startService, type RunningService } from '../src/service/index.ts';
import { createDatabase } from './postgres.ts';
import { prepareResults } from './result-data.ts';
import { describeMachine, median } from './machine.ts';

const ROUNDS = 15;
const LIMIT = 50;

const production = '/api/prod-evaluations/sessions/?';
const simulation = '/api/simulations/sessions/?';
const week = 'started_after=2026-10-10T00:00:00Z&started_before=2026-10-17T00:00:00Z';

const listLists = (count: number): Record<string, string> => ({
  'first page': production,
  'first page with transcripts': `${production}include_traces=true`,
  'by eval': `${production}eval=polite`,
  'by eval and week': `${production}eval=polite&${week}`,
  'only failed': `${production}failed_only=true`,
  'failed, by eval': `${production}failed_only=true&eval=polite`,
  'by run': `${production}run=day+7`,
  'by run and eval': `${production}run=day+7&eval=polite`,
  'by week': `${production}${week}`,
  'no match': `${production}run=missing`,
  'last page': `${production}skip=${Math.floor(count * 0.9) - LIMIT}`,
  simulations: simulation,
  'simulations by agent': `${simulation}agent=agent+5`,
});

async function request({ url, apiKey }: RunningService, path: string): Promise<number> {
  const startedMs = systemClock.monotonicMs();
  const response = await fetch(`${url}${path}&limit=${LIMIT}`, {
    headers: { 'x-service-api-key': apiKey },
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path} responded with ${response.status}: ${text}`);
  return systemClock.monotonicMs() - startedMs;
}

function print(name: string, [sqlite = NaN, postgres = NaN]: number[]): void {
  const columns = [`${sqlite.toFixed(2)} ms`, `${postgres.toFixed(2)} ms`];
  const ratio = (postgres / sqlite).toFixed(2);
  console.log([name, ...columns, ratio].map((text) => text.padStart(28)).join(''));
}

async function run(count: number, keptIn: string | undefined): Promise<void> {
  const directory = keptIn ?? mkdtempSync(join(tmpdir(), 'bench-results-'));
  const dataDir = join(directory, String(count));
  const name = keptIn === undefined ? undefined : `bench_results_${count}`;
  const database = await createDatabase(name);
  const services: RunningService[] = [];
  try {
    const { addMs, moveMs } = await prepareResults(count, { dataDir, databaseUrl: database?.url });
    services.push(await startService({ dataDir }));
    if (database) services.push(await startService({ databaseUrl: database.url }));
    console.log(`${count} sessions, pages of ${LIMIT}, median of ${ROUNDS} requests`);
    console.log(['', 'sqlite', 'postgres', 'ratio'].map((title) => title.padStart(28)).join(''));
    if (addMs !== undefined) console.log(`adding took ${addMs.toFixed(2)} ms per session`);
    if (moveMs !== undefined) console.log(`moving took ${moveMs.toFixed(2)} ms per session`);
    await measure(services, listLists(count));
  } finally {
    for (const service of services) await service.stop();
    if (keptIn === undefined) {
      await database?.remove();
      rmSync(directory, { recursive: true });
    }
  }
}

async function measure(
  services: readonly RunningService[],
  lists: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [name, path] of Object.entries(lists)) {
    const times = services.map((): number[] => []);
    for (let round = -2; round < ROUNDS; round += 1) {
      for (const [nth, service] of services.entries()) {
        const ms = await request(service, path);
        if (round >= 0) times[nth]?.push(ms);
      }
    }
    print(name, times.map(median));
  }
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { data: { type: 'string' } },
});
console.log(describeMachine());
for (const count of positionals.length === 0 ? [10_000] : positionals.map(Number)) {
  await run(count, values.data);
}
