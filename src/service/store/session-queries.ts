import { expressionBuilder, sql, type AliasableExpression, type ExpressionBuilder } from 'kysely';
import type { Reader } from './connections.ts';
import type { Neighbors, SessionFilter, SessionPage } from './records.ts';
import type { RunRef } from './run-sums.ts';
import type { Tables } from './schema/tables.ts';
import { findSessions, loadSessions, type SessionQuery } from './session-rows.ts';
import { contains } from './text-search.ts';

/**
 * Returns a page of sessions with their outcomes, newest first, and the number of all matches (spec
 * 4.3, 4.4). Call it in a transaction, so that both come from one snapshot.
 */
export async function findSessionPage(db: Reader, filter: SessionFilter): Promise<SessionPage> {
  const { skip, limit } = filter;
  const selection = await lookUpNames(db, filter);
  const total = await countSessions(db, selection);
  if (isSearch(filter)) {
    const keys = await searchSessions(db, selection);
    const sessions = await loadSessions(db, keys.slice(skip, skip + limit));
    const isCut = total > SEARCHED_MAX;
    return { sessions, total: keys.length, ...(isCut && { searched: SEARCHED_MAX }) };
  }
  return { sessions: await loadSessions(db, await findPageKeys(db, selection, total)), total };
}

/** A filter with the keys of the names that it contains. */
interface Selection {
  filter: SessionFilter;
  /** Undefined if the filter names no eval, or if too many match to list them in a query. */
  evalKeys: readonly number[] | undefined;
  runKeys: readonly number[] | undefined;
  agentKeys: readonly number[] | undefined;
}

const LISTED_KEYS_MAX = 100;

/** Looks up names first, because databases can't estimate how many rows match a text. */
async function lookUpNames(db: Reader, filter: SessionFilter): Promise<Selection> {
  const { ownerId, run, agent } = filter;
  const evals = filter.eval || filter.evalId ? selectEvalKeys(filter) : undefined;
  const runs = run ? selectRunKeys(ownerId, run) : undefined;
  const agents = agent ? selectAgentKeys(ownerId, agent) : undefined;
  return {
    filter,
    evalKeys: evals && (await listKeys(db, evals)),
    runKeys: runs && (await listKeys(db, runs)),
    agentKeys: agents && (await listKeys(db, agents)),
  };
}

/** Runs a query for keys. Returns undefined if they are too many to list. */
async function listKeys(
  db: Reader,
  query: AliasableExpression<{ key: number }>,
): Promise<number[] | undefined> {
  const rows = await db
    .selectFrom(query.as('named'))
    .select('named.key')
    .limit(LISTED_KEYS_MAX + 1)
    .execute();
  return rows.length > LISTED_KEYS_MAX ? undefined : rows.map(({ key }) => key);
}

/**
 * Returns the outcomes that decide alone which sessions match, so that only their index is read;
 * undefined if sessions have to be read.
 */
function selectOnlyOutcomes(db: Reader, { filter, evalKeys, runKeys }: Selection) {
  const { kind, run, agent, runId, failedOnly, outcome, startedAfterMs, startedBeforeMs } = filter;
  const isNarrowed = Boolean(agent) || Boolean(runId) || outcome !== undefined;
  if (!evalKeys || evalKeys.length === 0 || isNarrowed) return undefined;
  if (run && (!runKeys || runKeys.length === 0 || kind !== 'production')) return undefined;
  return (
    db
      .selectFrom('outcomes')
      .where('outcomes.eval_name_key', 'in', evalKeys)
      // All sessions of a run have the same kind. With both, SQLite would choose the larger index.
      .$if(runKeys === undefined, (query) => query.where('outcomes.kind', '=', kind))
      .$if(runKeys !== undefined, (query) => query.where('outcomes.run_key', 'in', runKeys ?? []))
      .where('outcomes.outcome', '<>', sql.lit('error'))
      .$if(failedOnly, (query) => query.where('outcomes.session_failed', '>', sql.lit(0)))
      .$if(startedAfterMs !== undefined, (query) =>
        query.where('outcomes.started_at_ms', '>=', startedAfterMs ?? 0),
      )
      .$if(startedBeforeMs !== undefined, (query) =>
        query.where('outcomes.started_at_ms', '<=', startedBeforeMs ?? 0),
      )
  );
}

async function countSessions(db: Reader, selection: Selection): Promise<number> {
  const { evalKeys } = selection;
  const outcomes = selectOnlyOutcomes(db, selection);
  const query = outcomes
    ? outcomes.select(({ fn }) =>
        // A session has one outcome of an eval, but several may match.
        (evalKeys?.length === 1
          ? fn.countAll<number>()
          : fn.count<number>('outcomes.session_key').distinct()
        ).as('total'),
      )
    : applyFilter(
        db.selectFrom('sessions').select(({ fn }) => fn.countAll<number>().as('total')),
        selection,
      );
  return (await query.executeTakeFirstOrThrow()).total;
}

/** Up to this many sessions of an eval are collected and sorted; more are found in order. */
const COLLECTED_MAX = 1_000;

/**
 * Up to this many sessions of several runs or agents are collected and sorted. They can all be old, so
 * a search in order could read all newer ones.
 */
const COLLECTED_OF_FEW_MAX = 200_000;

/** Finds a page from the nearer end of the list, because the database reads all rows that it skips. */
async function findPageKeys(db: Reader, selection: Selection, total: number): Promise<number[]> {
  const { skip, limit } = selection.filter;
  const size = Math.min(limit, total - skip);
  if (size <= 0) return [];
  const isFromEnd = skip > total / 2;
  const [newest, first] = isFromEnd ? (['asc', 'desc'] as const) : (['desc', 'asc'] as const);
  const outcomes = total > COLLECTED_MAX ? undefined : selectOnlyOutcomes(db, selection);
  const { runKeys, agentKeys } = selection;
  const isOfSeveral = [runKeys, agentKeys].some((keys) => keys !== undefined && keys.length > 1);
  const startedAt = sql.ref('sessions.started_at_ms');
  const sessions = db.selectFrom('sessions').select('sessions.key');
  const rows = await (
    outcomes
      ? sessions.where('sessions.key', 'in', outcomes.select('outcomes.session_key'))
      : applyFilter(sessions, selection)
  )
    // With a plus, databases don't use the order of an index.
    .orderBy(isOfSeveral && total <= COLLECTED_OF_FEW_MAX ? sql`+${startedAt}` : startedAt, newest)
    .orderBy('sessions.id', first)
    .limit(size)
    .offset(isFromEnd ? total - skip - size : skip)
    .execute();
  const keys = rows.map(({ key }) => key);
  return isFromEnd ? keys.reverse() : keys;
}

/** Sorts sessions. Ids make the order total: each session is on exactly one page. */
const inOrder = <Row>(query: SessionQuery<Row>): SessionQuery<Row> =>
  query.orderBy('sessions.started_at_ms', 'desc').orderBy('sessions.id');

/**
 * Returns the sessions before and after a session in the list of a filter, whose page is ignored. In a
 * search, the session must be among the results.
 */
export async function findNeighbors(
  db: Reader,
  filter: SessionFilter,
  sessionId: string,
): Promise<Neighbors> {
  const self = await db
    .selectFrom('sessions')
    .select(['key', 'started_at_ms'])
    .where('owner_id', '=', filter.ownerId)
    .where('id', '=', sessionId)
    .executeTakeFirst();
  if (!self) return {};
  const selection = await lookUpNames(db, filter);
  if (isSearch(filter)) {
    const keys = await searchSessions(db, selection);
    const at = keys.indexOf(self.key);
    if (at < 0) return {};
    const [newer] = await loadSessions(db, keys.slice(Math.max(0, at - 1), at));
    const [older] = await loadSessions(db, keys.slice(at + 1, at + 2));
    return { ...(newer && { newer }), ...(older && { older }) };
  }
  const { started_at_ms: atMs } = self;
  const [newer] = await findSessions(db, (query) =>
    applyFilter(query, selection)
      .where('sessions.started_at_ms', '>=', atMs)
      .where((eb) =>
        eb.or([eb('sessions.started_at_ms', '>', atMs), eb('sessions.id', '<', sessionId)]),
      )
      .orderBy('sessions.started_at_ms')
      .orderBy('sessions.id', 'desc')
      .limit(1),
  );
  const [older] = await findSessions(db, (query) =>
    inOrder(
      applyFilter(query, selection)
        .where('sessions.started_at_ms', '<=', atMs)
        .where((eb) =>
          eb.or([eb('sessions.started_at_ms', '<', atMs), eb('sessions.id', '>', sessionId)]),
        ),
    ).limit(1),
  );
  return { ...(newer && { newer }), ...(older && { older }) };
}

/** A search by text or tag reads each session, so it covers only the newest that match the filter. */
const SEARCHED_MAX = 10_000;

const isSearch = ({ tags, text }: SessionFilter): boolean =>
  tags !== undefined || text !== undefined;

/** Returns the keys of the newest sessions that match a filter with a text or a tag, in order. */
async function searchSessions(db: Reader, selection: Selection): Promise<number[]> {
  const { tags = [], text } = selection.filter;
  const newest = inOrder(applyFilter(db.selectFrom('sessions').select('sessions.key'), selection))
    .select(['sessions.started_at_ms', 'sessions.id', 'sessions.owner_id'])
    .select('sessions.source_session_id')
    .limit(SEARCHED_MAX);
  let query = db.selectFrom(newest.as('newest')).select('newest.key');
  if (text !== undefined) {
    query = query.where((eb) =>
      eb.exists(
        eb
          .selectFrom('session_texts')
          .select('session_texts.session_key')
          .whereRef('session_texts.session_key', '=', 'newest.key')
          .where(contains('session_texts.text', text)),
      ),
    );
  }
  for (const { key: name, value } of tags) {
    query = query.where((eb) => {
      let uploaded = eb
        .selectFrom('session_tags')
        .select('session_tags.name')
        .whereRef('session_tags.session_key', '=', 'newest.key')
        .where('session_tags.name', '=', name);
      let live = eb
        .selectFrom('tags')
        .innerJoin('conversations', 'conversations.key', 'tags.conversation_key')
        .select('tags.name')
        .whereRef('conversations.owner_id', '=', 'newest.owner_id')
        .whereRef('conversations.conversation_id', '=', 'newest.source_session_id')
        .where('tags.name', '=', name);
      if (value !== undefined) {
        uploaded = uploaded.where('session_tags.value', '=', value);
        live = live.where('tags.value', '=', value);
      }
      return eb.or([eb.exists(uploaded), eb.exists(live)]);
    });
  }
  const rows = await query.orderBy('newest.started_at_ms', 'desc').orderBy('newest.id').execute();
  return rows.map(({ key }) => key);
}

/** Adds the conditions of a filter. */
function applyFilter<Row>(
  query: SessionQuery<Row>,
  { filter, evalKeys, runKeys, agentKeys }: Selection,
): SessionQuery<Row> {
  const { ownerId, kind, agent, run, runId, scenarioId } = filter;
  const { eval: evalName, evalId, outcome } = filter;
  const failedOnly = filter.failedOnly || outcome === 'failed';
  const { startedAfterMs, startedBeforeMs } = filter;
  // Zeros are literals, because SQLite uses a partial index only if the query repeats its condition.
  let narrowed = query
    .where('sessions.kind', '=', kind)
    // Production omits sessions without results (spec 4.4); simulations include them, and so do lists
    // of sessions whose evals errored or that are not completed. A failed session has results.
    .$if(kind === 'production' && outcome === undefined && !failedOnly, (q) =>
      q.where('sessions.total', '>', sql.lit(0)),
    )
    .$if(failedOnly, (q) => q.where('sessions.failed', '>', sql.lit(0)))
    .$if(outcome === 'errored', (q) => q.where('sessions.errored', '>', sql.lit(0)))
    .$if(outcome === 'unfinished', (q) => q.where('sessions.status', '<>', sql.lit('completed')));
  if (startedAfterMs !== undefined) {
    narrowed = narrowed.where('sessions.started_at_ms', '>=', startedAfterMs);
  }
  if (startedBeforeMs !== undefined) {
    narrowed = narrowed.where('sessions.started_at_ms', '<=', startedBeforeMs);
  }
  // Look up names in their small tables first. The keys found belong to the owner, so these queries
  // need no condition on the owner; with one, SQLite would scan all sessions of the owner.
  if (run) {
    const keys = runKeys ?? selectRunKeys(ownerId, run);
    narrowed = narrowed.where((eb) => isOneOf(eb, 'sessions.run_key', keys));
  }
  if (agent) {
    const keys = agentKeys ?? selectAgentKeys(ownerId, agent);
    narrowed = narrowed.where((eb) => isOneOf(eb, 'sessions.agent_key', keys));
  }
  if (runId) {
    narrowed = narrowed.where((eb) => isOfRun(eb, { ownerId, kind, id: runId }));
    if (scenarioId) narrowed = narrowed.where('sessions.scenario_id', '=', scenarioId);
  }
  const isOfFew = Boolean(run) || Boolean(agent) || Boolean(runId);
  if (!isOfFew) narrowed = narrowed.where('sessions.owner_id', '=', ownerId);
  if (evalName || evalId) narrowed = narrowed.where((eb) => isScoredBy(eb, filter, evalKeys));
  return narrowed;
}

type Eb = ExpressionBuilder<Tables, 'sessions'>;

function selectRunKeys(ownerId: string, name: string) {
  return expressionBuilder<Tables>()
    .selectFrom('runs')
    .select('runs.key')
    .where('runs.owner_id', '=', ownerId)
    .where(contains('runs.name_folded', name));
}

function isOfRun(eb: Eb, { ownerId, kind, id }: RunRef) {
  if (kind === 'production') {
    const runs = eb
      .selectFrom('runs')
      .select('runs.key')
      .where('runs.owner_id', '=', ownerId)
      .where('runs.key', '=', parseRunKey(id));
    return eb('sessions.run_key', 'in', runs);
  }
  const simulations = eb
    .selectFrom('simulations')
    .select('simulations.key')
    .where('simulations.owner_id', '=', ownerId)
    .where('simulations.id', '=', id);
  return eb('sessions.simulation_key', 'in', simulations);
}

/** Returns the key of the production run with this id in deep links; -1 if there can't be one. */
export const parseRunKey = (id: string): number =>
  // Other texts than a number would match through a conversion.
  /^[1-9]\d{0,14}$/.test(id) ? Number(id) : -1;

function selectAgentKeys(ownerId: string, text: string) {
  return expressionBuilder<Tables>()
    .selectFrom('agents')
    .select('agents.key')
    .where('agents.owner_id', '=', ownerId)
    .where((eb) =>
      eb.or([contains('agents.name_folded', text), contains('agents.url_folded', text)]),
    );
}

/** Compares with a single key where possible: an index is then in the order of the list. */
function isOneOf(
  eb: Eb,
  column: 'sessions.run_key' | 'sessions.agent_key',
  keys: readonly number[] | ReturnType<typeof selectRunKeys> | ReturnType<typeof selectAgentKeys>,
) {
  if ('isSelectQueryBuilder' in keys) return eb(column, 'in', keys);
  const [first = -1, ...others] = keys;
  return others.length === 0 ? eb(column, '=', first) : eb(column, 'in', [first, ...others]);
}

/**
 * Matches sessions with a passed or failed outcome of an eval whose name contains the text or that has
 * the id, or with the outcome that the filter names.
 */
function isScoredBy(eb: Eb, filter: SessionFilter, evalKeys: readonly number[] | undefined) {
  const { outcome } = filter;
  return eb.exists(
    eb
      .selectFrom('outcomes')
      .select('outcomes.session_key')
      .$if(outcome === 'failed', (q) => q.where('outcomes.outcome', '=', sql.lit('fail')))
      .$if(outcome === 'errored', (q) => q.where('outcomes.outcome', '=', sql.lit('error')))
      .$if(outcome !== 'errored', (q) => q.where('outcomes.outcome', '<>', sql.lit('error')))
      .where((inner) =>
        inner(
          'outcomes.eval_name_key',
          'in',
          // An empty list is not SQL.
          evalKeys ? [...evalKeys, -1] : selectEvalKeys(filter),
        ),
      )
      // With these columns of the session, one index has all that is read.
      .whereRef('outcomes.kind', '=', 'sessions.kind')
      .whereRef('outcomes.started_at_ms', '=', 'sessions.started_at_ms')
      .whereRef('outcomes.session_key', '=', 'sessions.key'),
  );
}

function selectEvalKeys({ ownerId, eval: name, evalId, evalVersion }: SessionFilter) {
  return expressionBuilder<Tables>()
    .selectFrom('eval_names')
    .select('eval_names.key')
    .where('eval_names.owner_id', '=', ownerId)
    .$if(Boolean(name), (q) => q.where(contains('eval_names.name_folded', name ?? '')))
    .$if(Boolean(evalId), (q) => q.where('eval_names.eval_id', '=', evalId ?? ''))
    .$if(Boolean(evalVersion), (q) => q.where('eval_names.version', '=', evalVersion ?? ''));
}
