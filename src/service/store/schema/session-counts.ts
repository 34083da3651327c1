/** How a session counts in `session_counts`, in the SQL of both databases. */
import { DAY_MS } from '../../../platform/clock.ts';
import type { Tables } from './tables.ts';

type CountRow = Omit<Tables['session_counts'], 'key'>;
type SumName = Exclude<keyof CountRow, keyof typeof groupOfSession>;

/** The columns of the row that counts a session, from those of the session. */
const groupOfSession = {
  owner_id: 'owner_id',
  kind: 'kind',
  run_key: 'coalesce(run_key, 0)',
  simulation_key: 'coalesce(simulation_key, 0)',
  agent_key: 'coalesce(agent_key, 0)',
  eval_set_key: 'eval_set_key',
  // Rounds towards the Unix epoch in both databases.
  day: `cast(started_at_ms / ${DAY_MS} as integer)`,
} satisfies Partial<Record<keyof CountRow, string>>;

/** What a session adds to the row. */
const sumsOfSession: Readonly<Record<SumName, string>> = {
  sessions: '1',
  scored: 'cast(total > 0 as integer)',
  failed: 'cast(failed > 0 as integer)',
  errored: 'cast(errored > 0 as integer)',
  unfinished: "cast(status <> 'completed' as integer)",
  evaluating: "cast(status = 'evaluating' as integer)",
  evaluations: 'total',
  passed_evaluations: 'passed',
};

export const groupColumns = Object.keys(groupOfSession);
export const sumColumns = Object.keys(sumsOfSession) as readonly SumName[];

/** The columns of a session that decide how it counts. */
export const countedColumns = [
  'kind',
  'run_key',
  'simulation_key',
  'agent_key',
  'eval_set_key',
  'started_at_ms',
  'status',
  'total',
  'passed',
  'failed',
  'errored',
] as const satisfies readonly (keyof Tables['sessions'])[];

/** Returns the list of a `select` from sessions that adds each to a row, or with -1 removes it. */
export const selectCounts = (sign: 1 | -1): string =>
  [
    ...Object.entries(groupOfSession).map(([name, group]) => `${group} as ${name}`),
    ...Object.entries(sumsOfSession).map(([name, sum]) => `${sign} * ${sum} as ${name}`),
  ].join(', ');

/** Returns the first and the last millisecond of a day of `session_counts`. */
export function boundsOfDay(day: number): { fromMs: number; toMs: number } {
  const [start, length] = [day * DAY_MS, DAY_MS - 1];
  return { fromMs: day > 0 ? start : start - length, toMs: day < 0 ? start : start + length };
}

/** Returns the day of `session_counts` that a time is on. */
export const dayOf = (ms: number): number => Math.trunc(ms / DAY_MS);
