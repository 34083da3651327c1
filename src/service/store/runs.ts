import { expressionBuilder, type SelectQueryBuilder } from 'kysely';
import type { Connections, Reader } from './connections.ts';
import { findRunNeighbors, inRunOrder } from './run-order.ts';
import {
  addScenarioSums,
  addSums,
  countByEval,
  RUN_COLUMNS,
  type RunRow,
  type EvalCounts,
  type RunRef,
  type RunSummary,
  type ScenarioCounts,
} from './run-sums.ts';
import { timeSessions, type TimedSession } from './response-times.ts';
import { readTraits, type RunTraits } from './run-traits.ts';
import { findSimulationTargets } from './simulation-targets.ts';
import { parseRunKey } from './session-filter.ts';
import { findSessions, type SelectSessions } from './session-rows.ts';
import { contains } from './text-search.ts';
import { findSimulationsOfAgents, type AgentsQuery } from './simulations-of-agents.ts';
import type { Page, Session, SessionKind, Verdict } from './records.ts';
import type { Tables } from './schema/tables.ts';

/** Which runs to list. A run matches a time if one of its sessions started then. */
export interface RunFilter extends Page {
  ownerId: string;
  kind: SessionKind;
  /** Part of the name, in any case. */
  name?: string;
  startedAfterMs?: number;
  startedBeforeMs?: number;
  /** How many of the listed simulations get the counts of their scenarios (default: 0). */
  judgedMax?: number;
}

/** The runs next to a run in their list. */
export interface RunNeighbors {
  older?: Pick<RunSummary, 'id' | 'name'> | undefined;
  newer?: Pick<RunSummary, 'id' | 'name'> | undefined;
}

/** Several runs of one kind. */
export interface RunRefs extends Pick<RunRef, 'ownerId' | 'kind'> {
  ids: readonly string[];
}

/** The sums of the sessions of one run. */
export interface RunSums {
  run: RunSummary;
  /** Empty for a production run. */
  scenarios: readonly ScenarioCounts[];
}

/** What the pages show about one run. */
export interface RunDetails extends RunSums {
  /** By name. */
  evals: EvalCounts[];
}

/** A simulation with an agent. */
export interface SimulationOfAgent extends RunSummary {
  /** The id of the stored agent. */
  agentId: string;
  /** The URL that was tested. */
  agentUrl: string;
  scenarios: readonly ScenarioCounts[];
}

/**
 * Creates the store of production runs, and of simulations that are not deleted. The interface has no
 * endpoint for them.
 */
export function createRunStore({ reader, read }: Connections) {
  return {
    /** Lists runs by their newest session, newest first, and the number of all matches. */
    list: (filter: RunFilter): Promise<{ runs: RunSummary[]; total: number }> =>
      read(filter.ownerId, (db) => listRuns(db, filter)),
    has: async (ref: RunRef): Promise<boolean> =>
      (await findRun(reader(ref.ownerId), ref)) !== undefined,
    /** Returns the runs next to a run in the list of all runs of its kind. */
    findNeighbors: (ref: RunRef): Promise<RunNeighbors> =>
      read(ref.ownerId, (db) => findNeighbors(db, ref)),
    /** Returns the results of each run, all from one snapshot; undefined for an unknown run. */
    load: (refs: readonly RunRef[]): Promise<(RunDetails | undefined)[]> =>
      read(refs[0]?.ownerId ?? '', async (db) => {
        const details = [];
        for (const ref of refs) details.push(await loadRun(db, ref));
        return details;
      }),
    /** Returns the same without the evals, whose outcomes take as long to read as the sessions. */
    loadSums: (refs: readonly RunRef[]): Promise<(RunSums | undefined)[]> =>
      read(refs[0]?.ownerId ?? '', async (db) => {
        const sums = [];
        for (const ref of refs) sums.push((await loadRunSums(db, ref))?.sums);
        return sums;
      }),
    /**
     * Lists the stored sessions of a run: production newest first, a simulation by scenario, with failed
     * sessions of each scenario first.
     */
    listSessions: (ref: RunRef, page: Page): Promise<{ sessions: Session[]; total: number }> =>
      read(ref.ownerId, (db) => listSessions(db, ref, page)),
    /** Lists the sessions of a scenario with these verdicts, by verdict and sample. */
    listSamples: (
      ref: RunRef & { scenarioId: string },
      verdicts: readonly Verdict[],
      limit: number,
    ): Promise<Session[]> =>
      read(ref.ownerId, (db) =>
        findOfScenario(db, ref, (query) =>
          query
            .where('sessions.verdict', 'in', verdicts)
            .orderBy('sessions.verdict')
            .orderBy('sessions.sample')
            .limit(limit),
        ),
      ),
    /** Finds the session of a scenario with this number. */
    findSample: (
      ref: RunRef & { scenarioId: string },
      sample: number,
    ): Promise<Session | undefined> =>
      read(ref.ownerId, async (db) => {
        const [session] = await findOfScenario(db, ref, (query) =>
          query
            // All of them: the verdict is before the sample in the index.
            .where('sessions.verdict', 'in', ['failed', 'passed', 'undecided'])
            .where('sessions.sample', '=', sample)
            .limit(1),
        );
        return session;
      }),
    /** Returns the newest simulations of each of these agents by the id of the agent, newest first. */
    listSimulationsOfAgents: (
      ownerId: string,
      agentIds: readonly string[],
      limitPerAgent: number,
    ): Promise<Map<string, SimulationOfAgent[]>> =>
      read(ownerId, (db) => listSimulationsOfAgents(db, { ownerId, agentIds, limitPerAgent })),
    /** Returns how long and how fast the newest sessions of each run were, by the id of the run. */
    timeSessions: (runs: RunRefs, sessionsMax: number): Promise<Map<string, TimedSession[]>> =>
      read(runs.ownerId, (db) => timeRuns(db, runs, sessionsMax)),
    /** Reads what the newest sessions of a run have in common. */
    readTraits: (ref: RunRef, sessionsMax: number): Promise<RunTraits> =>
      read(ref.ownerId, async (db) => {
        const run = await findRun(db, ref);
        return readTraits(
          db,
          { ...ref, column: RUN_COLUMNS[ref.kind], key: run?.key ?? -1 },
          sessionsMax,
        );
      }),
  };
}

async function listSimulationsOfAgents(
  db: Reader,
  query: AgentsQuery,
): Promise<Map<string, SimulationOfAgent[]>> {
  const rows = await findSimulationsOfAgents(db, query);
  const found = rows.map(({ key, id, name }): RunRow => ({ key, id, name, state: undefined }));
  const runs = await addScenarioSums(db, found);
  const runById = new Map(runs.map((run) => [run.id, run]));
  const ofAgents = rows.flatMap(({ agentId, agentUrl, id }) => {
    const run = runById.get(id);
    return run ? [{ ...run, agentId, agentUrl }] : [];
  });
  return Map.groupBy(ofAgents, ({ agentId }) => agentId);
}

async function listRuns(
  db: Reader,
  filter: RunFilter,
): Promise<{ runs: RunSummary[]; total: number }> {
  const { kind, skip, limit, name, judgedMax = 0 } = filter;
  if (kind === 'production') {
    const query = selectRuns(db, filter.ownerId)
      .$if(name !== undefined, (q) => q.where(contains('runs.name_folded', name ?? '')))
      .$if(hasTimes(filter), (q) => q.where(hasSessionWithin('runs', filter)));
    const rows = await inRunOrder(query, 'production').limit(limit).offset(skip).execute();
    return {
      runs: await addSums(db, kind, rows.map(toProductionRun)),
      total: await countRows(query),
    };
  }
  const query = selectSimulations(db, filter.ownerId)
    .$if(name !== undefined, (q) => q.where(contains('simulations.name_folded', name ?? '')))
    .$if(hasTimes(filter), (q) => q.where(hasSessionWithin('simulations', filter)));
  const rows = await inRunOrder(query, 'simulation').limit(limit).offset(skip).execute();
  const targets = await findSimulationTargets(
    db,
    rows.map(({ key }) => key),
  );
  const found = rows.map((row) => ({ ...toSimulationRun(row), ...targets.get(row.key) }));
  const runs = [
    ...(await addScenarioSums(db, found.slice(0, judgedMax))),
    ...(await addSums(db, kind, found.slice(judgedMax))),
  ];
  return { runs, total: await countRows(query) };
}

const selectRuns = (db: Reader, ownerId: string) =>
  db.selectFrom('runs').select(['runs.key', 'runs.name']).where('runs.owner_id', '=', ownerId);

const selectSimulations = (db: Reader, ownerId: string) =>
  db
    .selectFrom('simulations')
    .leftJoin('simulation_plans', 'simulation_plans.simulation_key', 'simulations.key')
    .select(['simulations.key', 'simulations.id', 'simulations.name', 'simulation_plans.state'])
    .where('simulations.owner_id', '=', ownerId)
    .where('simulations.deleted', '=', 0);

const toProductionRun = ({ key, name }: { key: number; name: string }): RunRow => ({
  key,
  id: String(key),
  name,
  state: undefined,
});

const toSimulationRun = ({
  state,
  ...row
}: Omit<RunRow, 'state'> & { state: RunSummary['state'] | null }): RunRow => ({
  ...row,
  state: state ?? undefined,
});

async function countRows<Shape extends keyof Tables, Row>(
  query: SelectQueryBuilder<Tables, Shape, Row>,
): Promise<number> {
  const { total } = await query
    .clearSelect()
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  return total;
}

const hasTimes = ({ startedAfterMs, startedBeforeMs }: RunFilter): boolean =>
  startedAfterMs !== undefined || startedBeforeMs !== undefined;

function hasSessionWithin(
  table: 'runs' | 'simulations',
  { startedAfterMs = 0, startedBeforeMs = Number.MAX_SAFE_INTEGER }: RunFilter,
) {
  const column = table === 'runs' ? RUN_COLUMNS.production : RUN_COLUMNS.simulation;
  const eb = expressionBuilder<Tables, 'runs' | 'simulations'>();
  return eb.exists(
    eb
      .selectFrom('sessions')
      .select('sessions.key')
      .whereRef(`sessions.${column}`, '=', `${table}.key`)
      .where('sessions.started_at_ms', '>=', startedAfterMs)
      .where('sessions.started_at_ms', '<=', startedBeforeMs),
  );
}

async function findRun(db: Reader, { ownerId, kind, id }: RunRef): Promise<RunRow | undefined> {
  const [run] = await findRuns(db, { ownerId, kind, ids: [id] });
  return run;
}

async function findRuns(db: Reader, { ownerId, kind, ids }: RunRefs): Promise<RunRow[]> {
  if (ids.length === 0) return [];
  if (kind === 'simulation') {
    const rows = await selectSimulations(db, ownerId).where('simulations.id', 'in', ids).execute();
    return rows.map(toSimulationRun);
  }
  const keys = ids.map(parseRunKey);
  const rows = await selectRuns(db, ownerId).where('runs.key', 'in', keys).execute();
  return rows.map(toProductionRun);
}

async function timeRuns(
  db: Reader,
  runs: RunRefs,
  sessionsMax: number,
): Promise<Map<string, TimedSession[]>> {
  const found = await findRuns(db, runs);
  const keys = found.map(({ key }) => key);
  const timed = await timeSessions(db, { kind: runs.kind, keys }, sessionsMax);
  return new Map(found.map(({ id, key }) => [id, timed.get(key) ?? []]));
}

async function findNeighbors(db: Reader, ref: RunRef): Promise<RunNeighbors> {
  const run = await findRun(db, ref);
  if (!run) return {};
  const { ownerId, kind } = ref;
  if (kind === 'simulation') {
    return findRunNeighbors(selectSimulations(db, ownerId), kind, run.key);
  }
  const { older, newer } = await findRunNeighbors(selectRuns(db, ownerId), kind, run.key);
  return { older: older && toProductionRun(older), newer: newer && toProductionRun(newer) };
}

async function loadRun(db: Reader, ref: RunRef): Promise<RunDetails | undefined> {
  const found = await loadRunSums(db, ref);
  return found && { ...found.sums, evals: await countByEval(db, ref, found.key) };
}

async function loadRunSums(
  db: Reader,
  ref: RunRef,
): Promise<{ key: number; sums: RunSums } | undefined> {
  const row = await findRun(db, ref);
  if (!row) return undefined;
  const [run] =
    ref.kind === 'production'
      ? await addSums(db, ref.kind, [row])
      : await addScenarioSums(db, [row]);
  if (!run) return undefined;
  const { scenarios = [], ...summary } = run;
  return { key: row.key, sums: { run: summary, scenarios } };
}

async function listSessions(
  db: Reader,
  ref: RunRef,
  { skip, limit }: { skip: number; limit: number },
): Promise<{ sessions: Session[]; total: number }> {
  const run = await findRun(db, ref);
  const column = `sessions.${RUN_COLUMNS[ref.kind]}` as const;
  const { total } = await db
    .selectFrom('sessions')
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .where(column, '=', run?.key ?? -1)
    .executeTakeFirstOrThrow();
  const sessions = await findSessions(db, (query) => {
    const ofRun = query.where(column, '=', run?.key ?? -1);
    // Both orders are those of the indexes.
    const ordered =
      ref.kind === 'production'
        ? ofRun.orderBy('sessions.started_at_ms', 'desc')
        : ofRun
            .orderBy('sessions.scenario_id')
            .orderBy('sessions.verdict')
            .orderBy('sessions.sample');
    return ordered.orderBy('sessions.id').limit(limit).offset(skip);
  });
  return { sessions, total };
}

async function findOfScenario(
  db: Reader,
  ref: RunRef & { scenarioId: string },
  select: SelectSessions,
): Promise<Session[]> {
  const run = await findRun(db, ref);
  return findSessions(db, (query) =>
    select(
      query
        .where('sessions.simulation_key', '=', run?.key ?? -1)
        .where('sessions.scenario_id', '=', ref.scenarioId),
    ),
  );
}
