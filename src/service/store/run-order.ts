import { expressionBuilder, sql, type SelectQueryBuilder } from 'kysely';
import type { SessionKind } from './records.ts';
import type { Tables } from './schema/tables.ts';

type Joined = Pick<Tables, 'runs' | 'simulations' | 'sessions'> & {
  simulation_plans: { started_at_ms: number | null };
};
const eb = expressionBuilder<Joined, 'runs' | 'simulations' | 'simulation_plans'>();
const newestOf = (column: 'run_key' | 'simulation_key', table: 'runs' | 'simulations') =>
  eb
    .selectFrom('sessions')
    .select(({ fn }) => fn.max('sessions.started_at_ms').as('newest'))
    .whereRef('sessions.owner_id', '=', `${table}.owner_id`)
    .whereRef(`sessions.${column}`, '=', `${table}.key`);

/** The start of the newest session of a run. A simulation without one counts from its own start. */
const NEWEST_START = {
  production: sql<number>`coalesce(${newestOf('run_key', 'runs')}, 0)`,
  simulation: sql<number>`coalesce(${newestOf('simulation_key', 'simulations')},
    ${eb.ref('simulation_plans.started_at_ms')}, 0)`,
} as const;

const KEYS = {
  production: eb.ref('runs.key'),
  simulation: eb.ref('simulations.key'),
} as const;

/** Sorts runs by their newest session, newest first. Keys make the order total. */
export const inRunOrder = <Shape extends keyof Tables, Row>(
  query: SelectQueryBuilder<Tables, Shape, Row>,
  kind: SessionKind,
): SelectQueryBuilder<Tables, Shape, Row> =>
  query.orderBy(NEWEST_START[kind], 'desc').orderBy(KEYS[kind], 'desc');

/** Returns the rows before and after a run in the order of the runs that a query selects. */
export async function findRunNeighbors<Shape extends keyof Tables, Row>(
  query: SelectQueryBuilder<Tables, Shape, Row>,
  kind: SessionKind,
  key: number,
): Promise<{ older: Row | undefined; newer: Row | undefined }> {
  const [start, keys] = [NEWEST_START[kind], KEYS[kind]];
  const self = await query
    .clearSelect()
    .select(start.as('startMs'))
    .where(sql<boolean>`${keys} = ${key}`)
    .executeTakeFirst();
  if (!self) return { older: undefined, newer: undefined };
  const { startMs } = self;
  const older = query.where(
    sql<boolean>`(${start} < ${startMs} or (${start} = ${startMs} and ${keys} < ${key}))`,
  );
  const newer = query.where(
    sql<boolean>`(${start} > ${startMs} or (${start} = ${startMs} and ${keys} > ${key}))`,
  );
  const [next] = await inRunOrder(older, kind).limit(1).execute();
  const [previous] = await newer.orderBy(start).orderBy(keys).limit(1).execute();
  return { older: next, newer: previous };
}
