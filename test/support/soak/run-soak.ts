/** A long run: traffic of every kind in real time, or simulated days as fast as possible. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { describeMachine } from '../../../bench/machine.ts';
import { MINUTE_MS, SECOND_MS, systemClock } from '../../../src/platform/clock.ts';
import { seededRandom } from '../../../src/platform/random.ts';
import type { Dialect } from '../../../src/service/store/schema/table.ts';
import { judgeGrowth } from './judge-growth.ts';
import { createSoakActions, createSoakClock, prepareService } from './soak-actions.ts';
import { createSoakClient, type SoakClient } from './soak-client.ts';
import { createSoakExporters } from './soak-exporters.ts';
import { listMeasures } from './soak-measures.ts';
import { formatReport, type SoakReport, type SoakRun } from './soak-report.ts';
import { createSampler, groupSamples, type SampleLine } from './soak-sampler.ts';
import { startSoakSite, type SoakSite } from './soak-site.ts';

/** How long a run takes, and where it writes. */
export interface SoakOptions {
  dialect: Dialect;
  /** Real minutes, or else simulated days. */
  minutes?: number;
  days?: number;
  /** The directory of `samples.jsonl`, `report.json`, and `report.md`. */
  out: string;
  /** Modules that the service loads first. */
  preloads?: readonly string[];
}

type Actions = Record<string, () => Promise<void>>;

/** Runs, judges, and writes the report. */
export async function runSoak(
  t: Test,
  { dialect, minutes, days, out, preloads = [] }: SoakOptions,
): Promise<SoakReport> {
  mkdirSync(out, { recursive: true });
  const site = await startSoakSite(t, { dialect, preloads });
  const { service, agent, database } = site;
  const client = createSoakClient(t, site.listRunning);
  const clock = createSoakClock(client);
  const chance = seededRandom('soak');
  const { exporters, sent } = createSoakExporters(t, client, {
    service: service.address,
    chance,
    nowMs: clock.nowMs,
  });
  const { actions, uploaded } = createSoakActions(client, clock, service.address);
  await prepareService(client, agent.address);
  client.takeLatencies();
  const file = join(out, 'samples.jsonl');
  writeFileSync(file, '');
  const sampler = createSampler({ service, agent, client, database, file });
  const all: Actions = { ...exporters, ...actions, clock: clock.advance };
  const restarts =
    minutes === undefined
      ? await runDays(client, all, sampler.take, days ?? 0)
      : await runMinutes(client, site, all, sampler.take, minutes);
  await finish(t, client, clock.advance, { site, sent: sent.started, uploaded: uploaded.size });
  const run: SoakRun = {
    store: dialect,
    unit: minutes === undefined ? 'days' : 'minutes',
    machine: describeMachine(),
    duration: minutes ?? days ?? 0,
    requests: client.counts.requests,
    moved: client.counts.moved,
    restarts,
    errors: client.errors,
  };
  return writeReport(out, run, sampler.lines);
}

/** Judges the samples of a run again, for example after a change of what may grow. */
export function judgeAgain(out: string): SoakReport {
  const run = JSON.parse(readFileSync(join(out, 'report.json'), 'utf8')) as SoakRun;
  const lines = readFileSync(join(out, 'samples.jsonl'), 'utf8').trimEnd().split('\n');
  return writeReport(
    out,
    run,
    lines.map((line) => JSON.parse(line) as SampleLine),
  );
}

/** Judges the samples of a run, and writes the report. */
function writeReport(out: string, run: SoakRun, lines: readonly SampleLine[]): SoakReport {
  const { store, unit, duration } = run;
  const warmUp = unit === 'days' ? WARM_UP_DAYS : duration * WARM_UP_SHARE;
  // Simulated days have no pauses, so their latencies show little but other programs.
  const kinds = unit === 'days' ? [] : JUDGED_KINDS;
  const judgments = judgeGrowth(listMeasures(store, kinds), groupSamples(lines), {
    from: warmUp,
    to: duration,
  });
  const report: SoakReport = { ...run, warmUp, judgments };
  writeFileSync(join(out, 'report.json'), JSON.stringify(report, undefined, 1));
  writeFileSync(join(out, 'report.md'), formatReport(report));
  return report;
}

/** The kinds of requests that are frequent enough for percentiles. */
const JUDGED_KINDS = ['traces', 'traces of an SDK', 'end', 'results', 'pages', 'clock', 'uploads'];

const WARM_UP_SHARE = 0.3;
/** The retention begins to remove after three days. */
const WARM_UP_DAYS = 5;

/** How often each action is taken in real time. */
const INTERVALS_S: Readonly<Record<string, number>> = {
  'SDK with JSON': 4,
  'SDK with protobuf and gzip': 4,
  'plain JSON': 2,
  'plain protobuf': 2,
  results: 2,
  pages: 3,
  simulations: 45,
  calls: 240,
  uploads: 20,
  deletions: 60,
  clock: 15,
};

const SAMPLE_MS = 10 * SECOND_MS;
/** Collecting garbage takes CPU time, so it is not part of each sample. */
const THOROUGH_EVERY = 3;
const REPLICA_MS = { away: 60 * SECOND_MS, here: 240 * SECOND_MS };

type TakeSample = (at: number, isThorough: boolean) => Promise<void>;

/** Takes all actions in real time, each at its own interval. Returns how often a replica was started. */
async function runMinutes(
  client: SoakClient,
  site: SoakSite,
  actions: Actions,
  takeSample: TakeSample,
  minutes: number,
): Promise<number> {
  const startedMs = systemClock.monotonicMs();
  const passedMs = (): number => systemClock.monotonicMs() - startedMs;
  const endMs = minutes * MINUTE_MS;
  let restarts = 0;
  const repeat = async (name: string, everyMs: number, run: () => Promise<void>) => {
    for (let nth = 1; nth * everyMs <= endMs; nth += 1) {
      const waitMs = nth * everyMs - passedMs();
      if (waitMs > 0) await systemClock.sleep(waitMs);
      await client.attempt(name, run);
    }
  };
  const replicate = async (): Promise<void> => {
    const { startReplica, endReplica } = site;
    if (!startReplica) return;
    for (let nth = 0; passedMs() + REPLICA_MS.away < endMs; nth += 1) {
      await systemClock.sleep(Math.min(REPLICA_MS.away, endMs - passedMs()));
      await client.attempt('replica', startReplica);
      restarts += 1;
      await systemClock.sleep(Math.max(0, Math.min(REPLICA_MS.here, endMs - passedMs())));
      await endReplica(nth % 2 === 0 ? 'SIGTERM' : 'SIGKILL');
    }
  };
  let samples = 0;
  await Promise.all([
    ...Object.entries(actions).map(([name, run]) =>
      repeat(name, (INTERVALS_S[name] ?? 60) * SECOND_MS, run),
    ),
    repeat('sample', SAMPLE_MS, () =>
      takeSample(passedMs() / MINUTE_MS, samples++ % THOROUGH_EVERY === 0),
    ),
    replicate(),
  ]);
  return restarts;
}

const HOURS_PER_DAY = 24;
const SAMPLES_PER_DAY = 4;

/** Simulates days, hour by hour. */
async function runDays(
  client: SoakClient,
  { clock, calls: _calls, simulations, deletions, ...hourly }: Actions,
  takeSample: TakeSample,
  days: number,
): Promise<number> {
  const attempt = async (name: string, run = async (): Promise<void> => {}) =>
    client.attempt(name, run);
  for (let hour = 0; hour < days * HOURS_PER_DAY; hour += 1) {
    for (const [name, run] of Object.entries(hourly)) {
      await attempt(name, run);
      await attempt(name, run);
    }
    if (hour % HOURS_PER_DAY === 9) {
      await attempt('simulations', simulations);
      await attempt('deletions', deletions);
    }
    await attempt('clock', clock);
    if ((hour + 1) % (HOURS_PER_DAY / SAMPLES_PER_DAY) === 0) {
      await attempt('drain', () => drainService(client));
      await attempt('sample', () => takeSample((hour + 1) / HOURS_PER_DAY, true));
    }
  }
  return 0;
}

const drainService = async (client: SoakClient): Promise<void> => {
  await client.send({ kind: 'drain', route: 'POST /__admin/drain', isForFirst: true });
};

const HOURS_UNTIL_IDLE = 25;

/** Lets everything close, and asserts that each conversation is stored and scored once. */
async function finish(
  t: Test,
  client: SoakClient,
  advance: () => Promise<void>,
  { site, sent, uploaded }: { site: SoakSite; sent: number; uploaded: number },
): Promise<void> {
  for (let hour = 0; hour < HOURS_UNTIL_IDLE; hour += 1) await advance();
  await drainService(client);
  const [counts] = await site.database.query(
    `select (select count(*) from conversations) as conversations,
       (select count(*) from conversations where state = 'open') as open,
       (select count(*) from sessions where kind = 'production') as sessions,
       (select count(*) from jobs where state <> 'done') as unfinished`,
  );
  const found = Object.entries(counts ?? {}).map(([name, count]) => [name, Number(count)]);
  t.same(
    Object.fromEntries(found),
    { conversations: sent, open: 0, sessions: sent + uploaded, unfinished: 0 },
    'each conversation is stored, closed, and scored once',
  );
}
