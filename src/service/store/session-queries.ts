import { sql, type ExpressionBuilder, type SelectQueryBuilder } from 'kysely';
import type { Connections } from './connect.ts';
import { normalizeForSearch } from './fold.ts';
import { listOutcomes } from './outcomes.ts';
import type { JsonObject, Session, SessionFilter } from './store.ts';
import type { Tables } from './tables.ts';

type Db = Connections['reader'];
type OfSessions<Row> = SelectQueryBuilder<Tables, 'sessions', Row>;

/**
 * A page of sessions with all their outcomes, newest first, and how many match in all (spec 4.3,
 * 4.4). To be run in one transaction, so that the two belong to one state.
 */
export async function findSessionPage(
  db: Db,
  filter: SessionFilter,
): Promise<{ sessions: Session[]; total: number }> {
  const counted = db.selectFrom('sessions').select(({ fn }) => fn.countAll<number>().as('total'));
  const { total } = await matching(counted, filter, 'all').executeTakeFirstOrThrow();
  const sessions = await findSessions(db, (query) =>
    matching(query, filter, 'few')
      // Ids make the order total: no session is on two pages or on none.
      .orderBy('sessions.started_at_ms', 'desc')
      .orderBy('sessions.id')
      .limit(filter.limit)
      .offset(filter.skip),
  );
  return { sessions, total };
}

/** The sessions that a query over their rows selects, in its order. */
export async function findSessions(
  db: Db,
  select: (query: OfSessions<{ key: number }>) => OfSessions<{ key: number }>,
): Promise<Session[]> {
  // The page is cut before anything is joined to it.
  const chosen = await select(db.selectFrom('sessions').select('sessions.key')).execute();
  const keys = chosen.map(({ key }) => key);
  const [rows, outcomes] = [await rowsOf(db, keys), await listOutcomes(db, keys)];
  const byKey = new Map(rows.map((row) => [row.key, row]));
  return keys.flatMap((key) => {
    const row = byKey.get(key);
    return row ? [{ ...toSession(row), outcomes: outcomes.get(key) ?? [] }] : [];
  });
}

/** Narrows to what the filter wants. `read` says whether all that match are read or a page of them. */
function matching<Row>(
  query: OfSessions<Row>,
  filter: SessionFilter,
  read: 'all' | 'few',
): OfSessions<Row> {
  const { ownerId, kind, agent, run, eval: evalName, failedOnly } = filter;
  const { startedAfterMs, startedBeforeMs } = filter;
  // Zeroes as literals: SQLite takes an index over some rows only when it sees their condition.
  let narrowed = query
    .where('sessions.kind', '=', kind)
    // Simulations list sessions without results, too; production leaves them out (spec 4.4).
    .$if(kind === 'production', (q) => q.where('sessions.total', '>', sql.lit(0)))
    .$if(failedOnly, (q) => q.where('sessions.failed', '>', sql.lit(0)));
  if (startedAfterMs !== undefined) {
    narrowed = narrowed.where('sessions.started_at_ms', '>=', startedAfterMs);
  }
  if (startedBeforeMs !== undefined) {
    narrowed = narrowed.where('sessions.started_at_ms', '<=', startedBeforeMs);
  }
  // Names are looked up first, in small tables; then their keys in the large one. They are the
  // owner's: were the owner asked for again, SQLite would go through all that the owner has.
  if (run) {
    narrowed = narrowed.where((eb) => eb('sessions.run_key', 'in', runsLike(eb, ownerId, run)));
  }
  if (agent) {
    narrowed = narrowed.where((eb) =>
      eb('sessions.agent_key', 'in', agentsLike(eb, ownerId, agent)),
    );
  }
  if (!run && !agent) narrowed = narrowed.where('sessions.owner_id', '=', ownerId);
  if (evalName) {
    const isWide = read === 'all' && !run && !agent && !failedOnly;
    narrowed = narrowed.where((eb) => scoredBy(eb, ownerId, evalName, isWide));
  }
  return narrowed;
}

type Eb = ExpressionBuilder<Tables, 'sessions'>;

function runsLike(eb: Eb, ownerId: string, run: string) {
  return eb
    .selectFrom('runs')
    .select('runs.key')
    .where('runs.owner_id', '=', ownerId)
    .where(holds('runs.name_folded', run));
}

function agentsLike(eb: Eb, ownerId: string, agent: string) {
  return eb
    .selectFrom('agents')
    .select('agents.key')
    .where('agents.owner_id', '=', ownerId)
    .where((inner) =>
      inner.or([holds('agents.name_folded', agent), holds('agents.url_folded', agent)]),
    );
}

/**
 * Sessions with an outcome, pass or fail, of an eval whose name holds the text. Each session on the
 * way is asked; when that would be most of an owner's, it is quicker to gather all that have one.
 */
function scoredBy(eb: Eb, ownerId: string, name: string, isWide: boolean) {
  const outcomes = eb
    .selectFrom('outcomes')
    .select('outcomes.session_key')
    .where('outcomes.outcome', '<>', sql.lit('error'))
    .where('outcomes.eval_name_key', 'in', (inner) =>
      inner
        .selectFrom('eval_names')
        .select('eval_names.key')
        .where('eval_names.owner_id', '=', ownerId)
        .where(holds('eval_names.name_folded', name)),
    );
  return isWide
    ? eb('sessions.key', 'in', outcomes)
    : eb.exists(outcomes.whereRef('outcomes.session_key', '=', 'sessions.key'));
}

function holds(column: string, text: string) {
  return sql<boolean>`instr(${sql.ref(column)}, ${normalizeForSearch(text)}) > 0`;
}

type Row = Awaited<ReturnType<typeof rowsOf>>[number];

function rowsOf(db: Db, keys: readonly number[]) {
  return db
    .selectFrom('sessions')
    .leftJoin('runs', 'runs.key', 'sessions.run_key')
    .leftJoin('agents', 'agents.key', 'sessions.agent_key')
    .leftJoin('simulations', 'simulations.key', 'sessions.simulation_key')
    .selectAll('sessions')
    .select(['runs.name as run_name', 'agents.name as agent_name', 'agents.url as agent_url'])
    .select(['simulations.id as simulation_id', 'simulations.name as simulation_name'])
    .select('simulations.deleted as simulation_deleted')
    .where('sessions.key', 'in', keys)
    .execute();
}

function toSession(row: Row): Omit<Session, 'outcomes'> {
  const { run_key: runKey, run_name: runName } = row;
  const { agent_name: agentName, agent_url: agentUrl } = row;
  const { simulation_id: simulationId, simulation_name: simulationName } = row;
  return {
    id: row.id,
    kind: row.kind,
    ownerId: row.owner_id,
    status: row.status,
    startedAtMs: row.started_at_ms,
    endedAtMs: row.ended_at_ms,
    run: runKey !== null && runName !== null ? { id: String(runKey), name: runName } : undefined,
    sourceSessionId: row.source_session_id ?? undefined,
    simulation:
      simulationId !== null && simulationName !== null
        ? { id: simulationId, name: simulationName, deleted: row.simulation_deleted === 1 }
        : undefined,
    agent: agentName !== null && agentUrl !== null ? { name: agentName, url: agentUrl } : undefined,
    scenario: row.scenario ?? undefined,
    persona: row.persona ?? undefined,
    endReason: row.end_reason ?? undefined,
    metadata: toObject(row.metadata),
    simulated: toObject(row.simulated),
  };
}

/** A JSON column; undefined where there is none. */
export function toObject(text: string | null): JsonObject | undefined {
  return text === null ? undefined : (JSON.parse(text) as JsonObject);
}
