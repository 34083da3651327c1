/** What a long run measures, how much of it may grow, and why. */
import type { Dialect } from '../../../src/service/store/schema/table.ts';
import type { Growth, Measure } from './judge-growth.ts';
import { listTables } from './soak-database.ts';

const MIB = 1_048_576;

const HEAP = { share: 0.03, least: MIB };
const RESIDENT = { share: 0.05, least: 4 * MIB };
/**
 * Native memory of SQLite grows for weeks, probably because each connection caches up to 256 statements.
 * That is not proven, so this hides a native leak of less than about 3 kB per request.
 */
const SERVICE_RESIDENT = { share: 0.05, least: 32 * MIB };
/** The kit compiles nothing per request, so all of its code that runs often has a limit. */
const CODE = { share: 0.3, least: 4 * MIB };
const FEW = { share: 0, least: 2 };
const ROWS = { share: 0.05, least: 50 };
/** Other programs of the machine change latencies more than memory. */
const MEDIAN = { share: 0.3, least: 2 };
const TAIL = { share: 0.5, least: 10 };

const perSession = (perUnitMax: number, reason: string): Growth => ({
  by: 'rows of sessions',
  perUnitMax,
  reason,
});

const KEPT = 'kept with its session; the retention does not remove it';

/** Tables that grow by design, and their rows for each session. */
const growingTables: Readonly<Record<string, Growth>> = {
  sessions: { by: 'rows of sessions', perUnitMax: 1.01, reason: 'sessions are kept' },
  conversations: perSession(2, 'a conversation remembers that its spans were removed'),
  traces: perSession(10, 'a trace leads late spans to their conversation'),
  tags: perSession(10, 'tags are kept'),
  outcomes: perSession(6, KEPT),
  jobs: perSession(6, KEPT),
  turns: perSession(6, KEPT),
  traced_sessions: perSession(1.01, 'sessions from traces are kept'),
  session_counts: perSession(0.3, 'one for each day, run, simulation, and set of evals'),
  session_tags: perSession(3, KEPT),
  session_texts: perSession(1, 'uploaded and simulated sessions stay searchable'),
  ingest_log: {
    by: 'rows of traces',
    perUnitMax: 1,
    reason: 'entries of an owner are kept up to a limit',
  },
  simulations: perSession(0.1, 'kept until someone deletes them'),
  simulation_plans: perSession(0.1, 'kept until someone deletes the simulation'),
  runs: perSession(0.2, 'one for each day'),
  recordings: perSession(0.1, 'one for each call, up to 256 MiB'),
};

const process = (name: string, resident: Measure['tolerance']): Measure[] => [
  { name: `${name}: resident memory`, unit: 'bytes', tolerance: resident },
  {
    name: `${name}: heap of the main thread`,
    unit: 'bytes',
    tolerance: HEAP,
    growth: {
      by: `${name}: compiled code`,
      perUnitMax: 2,
      reason: 'V8 compiles code that runs again, and remembers the types that it saw',
    },
  },
  { name: `${name}: compiled code`, unit: 'bytes', tolerance: CODE },
  { name: `${name}: heaps of the other threads`, unit: 'bytes', tolerance: HEAP },
  { name: `${name}: memory outside the heaps`, unit: 'bytes', tolerance: HEAP },
  { name: `${name}: file descriptors`, unit: 'count', tolerance: FEW },
  { name: `${name}: threads`, unit: 'count', tolerance: FEW },
];

/** Returns the measures of a run. Latencies are judged for these kinds of requests. */
export function listMeasures(dialect: Dialect, kinds: readonly string[]): Measure[] {
  return [
    ...process('service', SERVICE_RESIDENT),
    ...process('agent', RESIDENT),
    { name: 'service: CPU time per request', unit: 'ms', tolerance: MEDIAN },
    { name: 'jobs queued', unit: 'count', tolerance: { share: 0, least: 10 } },
    { name: 'age of the oldest job', unit: 'ms', tolerance: { share: 0, least: 2_000 } },
    { name: 'simulations running', unit: 'count', tolerance: FEW },
    { name: 'write-ahead log', unit: 'bytes', tolerance: { share: 0.1, least: MIB } },
    {
      name: 'database file',
      unit: 'bytes',
      tolerance: { share: 0.03, least: MIB },
      growth: perSession(8_000, 'sessions, outcomes, and conversations are kept'),
    },
    {
      name: 'recorded bytes',
      unit: 'bytes',
      tolerance: { share: 0.03, least: MIB },
      growth: {
        by: 'rows of recordings',
        perUnitMax: 300_000,
        reason: 'recordings are kept, up to 256 MiB',
      },
    },
    ...(dialect === 'postgres'
      ? ([
          { name: 'database memory', unit: 'bytes', tolerance: { share: 0.05, least: 8 * MIB } },
          { name: 'database connections', unit: 'count', tolerance: FEW },
        ] satisfies Measure[])
      : []),
    ...listTables(dialect).map((table): Measure => {
      const growth = growingTables[table];
      return {
        name: `rows of ${table}`,
        unit: 'count',
        tolerance: ROWS,
        ...(growth && { growth }),
      };
    }),
    ...(kinds.length > 0
      ? [{ name: 'event loop delay p99', unit: 'ms' as const, tolerance: TAIL }]
      : []),
    ...kinds.flatMap((kind): Measure[] => [
      { name: `${kind}: p50`, unit: 'ms', percent: 50, tolerance: MEDIAN },
      { name: `${kind}: p99`, unit: 'ms', percent: 99, tolerance: TAIL },
    ]),
  ];
}
