/** What the sessions and the outcomes of runs add up to. */
import { sql } from 'kysely';
import type { Reader } from './connections.ts';
import type { SessionKind, Verdict } from './records.ts';
import type { SimulationPlan } from './simulations.ts';

/** A production run or a simulation. */
export interface RunRef {
  ownerId: string;
  kind: SessionKind;
  /** The id in deep links. */
  id: string;
}

/** The sessions of a production run or a simulation. */
export interface RunSummary {
  id: string;
  name: string;
  /** Undefined for a production run, and for a simulation that was seeded. */
  state: SimulationPlan['state'] | undefined;
  /** The name of the tested agent, and the channel, such as `voice`: only in lists of simulations. */
  agent?: string;
  channel?: string;
  /** Production: sessions with results, as in the results endpoint (spec 4.4). */
  sessions: number;
  /** Sessions with a failed eval. */
  failedSessions: number;
  /** Sessions with an eval that errored; it counts neither as passed nor as failed. */
  erroredSessions: number;
  /** Sessions that are neither completed nor being scored. */
  incompleteSessions: number;
  scoringSessions: number;
  /** Outcomes that pass or fail. */
  evaluations: number;
  passedEvaluations: number;
  /** Start of the oldest session. */
  oldestStartMs?: number;
  newestStartMs?: number;
  /** End of the session that ended last. */
  newestEndMs?: number;
  /** Only of some simulations (see `RunFilter`). */
  scenarios?: readonly ScenarioCounts[];
}

/** The outcomes of an eval in a run. */
export interface EvalCounts {
  /** The name if the outcomes were seeded without an id. Evals of simulations may share an id. */
  id: string;
  /** The newest name. */
  name: string;
  /** Outcomes of an edited eval count for the version that scored them; empty if they were uploaded. */
  version: string;
  passed: number;
  failed: number;
  errored: number;
}

/** The stored sessions of a scenario in a simulation, by verdict. */
export type ScenarioCounts = { scenarioId: string } & Record<Verdict, number>;

/** The columns of sessions and outcomes that refer to the run. */
export const RUN_COLUMNS = { production: 'run_key', simulation: 'simulation_key' } as const;

/** The row of a run or of a simulation that is not deleted. */
export interface RunRow extends Pick<RunSummary, 'id' | 'name' | 'state' | 'agent' | 'channel'> {
  key: number;
}

/** Adds the sums of their sessions to runs. */
export async function addSums(
  db: Reader,
  kind: RunRef['kind'],
  runs: readonly RunRow[],
): Promise<RunSummary[]> {
  if (runs.length === 0) return [];
  const keys = runs.map(({ key }) => key);
  const rows = await selectSums(db, kind, keys).groupBy(RUN_COLUMNS[kind]).execute();
  const sumsByKey = new Map(rows.map(({ key, ...sums }) => [key, sums]));
  return runs.map(({ key, ...run }) => ({ ...run, ...(sumsByKey.get(key) ?? NO_SESSIONS) }));
}

/**
 * Adds the sums of their sessions to simulations, in all and by scenario, from one query, because it
 * reads all sessions.
 */
export async function addScenarioSums(
  db: Reader,
  runs: readonly RunRow[],
): Promise<(RunSummary & { scenarios: ScenarioCounts[] })[]> {
  if (runs.length === 0) return [];
  const keys = runs.map(({ key }) => key);
  const rows = await selectSums(db, 'simulation', keys)
    .select(['scenario_id', 'verdict'])
    .groupBy(['simulation_key', 'scenario_id', 'verdict'])
    .execute();
  const byKey = Map.groupBy(rows, ({ key }) => key);
  return runs.map(({ key, ...run }) => {
    const ofRun = byKey.get(key) ?? [];
    return { ...run, ...mergeSums(ofRun), scenarios: sumScenarios(ofRun) };
  });
}

/** Selects the sums of the sessions of runs. The index of the runs has all columns that are read. */
function selectSums(db: Reader, kind: RunRef['kind'], keys: readonly number[]) {
  const column = RUN_COLUMNS[kind];
  const countIf = (condition: ReturnType<typeof sql<boolean>>) =>
    sql<number>`count(*) filter (where ${condition})`;
  return db
    .selectFrom('sessions')
    .select(({ fn }) => [
      `${column} as key` as const,
      // Production omits sessions without results (spec 4.4).
      (kind === 'production' ? countIf(sql`total > 0`) : fn.countAll<number>()).as('sessions'),
      countIf(sql`failed > 0`).as('failedSessions'),
      countIf(sql`errored > 0`).as('erroredSessions'),
      countIf(sql`status not in ('completed', 'evaluating')`).as('incompleteSessions'),
      countIf(sql`status = 'evaluating'`).as('scoringSessions'),
      fn.sum<number>('total').as('evaluations'),
      fn.sum<number>('passed').as('passedEvaluations'),
      fn.min('started_at_ms').as('oldestStartMs'),
      fn.max('started_at_ms').as('newestStartMs'),
      fn.max('ended_at_ms').as('newestEndMs'),
    ])
    .where(column, 'in', keys);
}

/** The sums of sessions. */
type Sums = Omit<RunSummary, 'id' | 'name' | 'state' | 'agent' | 'channel' | 'scenarios'>;

/** Returns the sums of all sessions from those of groups of them. */
function mergeSums(groups: readonly Sums[]): Sums {
  const sum = (name: keyof typeof NO_SESSIONS): number =>
    groups.reduce((total, group) => total + group[name], 0);
  const timesOf = (name: 'oldestStartMs' | 'newestStartMs' | 'newestEndMs'): number[] =>
    groups.flatMap((group) => group[name] ?? []);
  if (groups.length === 0) return NO_SESSIONS;
  return {
    sessions: sum('sessions'),
    failedSessions: sum('failedSessions'),
    erroredSessions: sum('erroredSessions'),
    incompleteSessions: sum('incompleteSessions'),
    scoringSessions: sum('scoringSessions'),
    evaluations: sum('evaluations'),
    passedEvaluations: sum('passedEvaluations'),
    oldestStartMs: Math.min(...timesOf('oldestStartMs')),
    newestStartMs: Math.max(...timesOf('newestStartMs')),
    newestEndMs: Math.max(...timesOf('newestEndMs')),
  };
}

const NO_SESSIONS = {
  sessions: 0,
  failedSessions: 0,
  erroredSessions: 0,
  incompleteSessions: 0,
  scoringSessions: 0,
  evaluations: 0,
  passedEvaluations: 0,
};

function sumScenarios(
  rows: readonly { scenario_id: string | null; verdict: string | null; sessions: number }[],
): ScenarioCounts[] {
  const byScenario = Map.groupBy(rows, (row) => row.scenario_id ?? '');
  return Array.from(byScenario, ([scenarioId, counts]) => {
    const countOf = (wanted: string): number =>
      counts.find(({ verdict }) => verdict === wanted)?.sessions ?? 0;
    const [passed, failed, undecided] = [
      countOf('passed'),
      countOf('failed'),
      countOf('undecided'),
    ];
    return { scenarioId, passed, failed, undecided };
  });
}

/**
 * Counts the outcomes of each version of each eval. An eval of a production run may have been renamed;
 * scenarios define their own evals, which may have the same id.
 */
export async function countByEval(
  db: Reader,
  { ownerId, kind }: RunRef,
  key: number,
): Promise<EvalCounts[]> {
  const counted = db
    .selectFrom('outcomes')
    .select(({ fn }) => ['eval_name_key', 'outcome', fn.countAll<number>().as('count')])
    .where(RUN_COLUMNS[kind], '=', key)
    .groupBy(['eval_name_key', 'outcome']);
  // Joined, because a run can have outcomes of more evals than a statement can have parameters.
  const rows = await db
    .selectFrom(counted.as('counted'))
    .innerJoin('eval_names', 'eval_names.key', 'counted.eval_name_key')
    .select(['counted.outcome', 'counted.count'])
    .select(['eval_names.eval_id as id', 'eval_names.name', 'eval_names.version'])
    .where('eval_names.owner_id', '=', ownerId)
    .orderBy('eval_names.key', 'desc')
    .execute();
  const byEval = Map.groupBy(rows, ({ id, name, version }) =>
    JSON.stringify(kind === 'production' ? [id, version] : [id, version, name]),
  );
  return Array.from(byEval.values(), (ofEval) => {
    const countOf = (wanted: string): number =>
      ofEval.reduce((sum, { outcome, count }) => sum + (outcome === wanted ? count : 0), 0);
    const [passed, failed, errored] = [countOf('pass'), countOf('fail'), countOf('error')];
    const { id = '', name = '', version = '' } = ofEval[0] ?? {};
    return { id, name, version, passed, failed, errored };
  }).sort((left, right) => compareTexts(left.name, right.name) || compareTexts(left.id, right.id));
}

const compareTexts = (left: string, right: string): number =>
  left < right ? -1 : Number(left > right);
