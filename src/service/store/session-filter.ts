/** Which sessions match a filter. */
import { expressionBuilder, sql, type AliasableExpression, type ExpressionBuilder } from 'kysely';
import type { Reader } from './connections.ts';
import type { SessionFilter } from './records.ts';
import type { RunRef } from './run-sums.ts';
import type { Tables } from './schema/tables.ts';
import type { SessionQuery } from './session-rows.ts';
import { contains } from './text-search.ts';

/** A filter with the keys of the names that it contains. */
export interface Selection {
  filter: SessionFilter;
  /** Undefined if the filter names no eval, or if too many match to list them in a query. */
  evalKeys: readonly number[] | undefined;
  /** The sets with one of these evals. */
  evalSetKeys: readonly number[] | undefined;
  runKeys: readonly number[] | undefined;
  agentKeys: readonly number[] | undefined;
}

const LISTED_KEYS_MAX = 100;

/** Looks up names first, because databases can't estimate how many rows match a text. */
export async function lookUpNames(db: Reader, filter: SessionFilter): Promise<Selection> {
  const { ownerId, run, agent } = filter;
  const evals = filter.eval || filter.evalId ? selectEvalKeys(filter) : undefined;
  const runs = run ? selectRunKeys(ownerId, run) : undefined;
  const agents = agent ? selectAgentKeys(ownerId, agent) : undefined;
  return {
    filter,
    evalKeys: evals && (await listKeys(db, evals)),
    evalSetKeys: evals && (await listKeys(db, selectEvalSetKeys(filter))),
    runKeys: runs && (await listKeys(db, runs)),
    agentKeys: agents && (await listKeys(db, agents)),
  };
}

/** Runs a query for keys. Returns undefined if they are too many to list. */
export async function listKeys(
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

/** Adds the conditions of a filter. */
export function applyFilter<Row>(
  query: SessionQuery<Row>,
  selection: Selection,
): SessionQuery<Row> {
  const { filter, runKeys, agentKeys } = selection;
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
  if (evalName || evalId) narrowed = addEval(narrowed, selection);
  return narrowed;
}

type Eb = ExpressionBuilder<Tables, 'sessions'>;

export function selectRunKeys(ownerId: string, name: string) {
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
  return eb('sessions.simulation_key', 'in', selectSimulationKey(ownerId, id));
}

export function selectSimulationKey(ownerId: string, id: string) {
  return expressionBuilder<Tables>()
    .selectFrom('simulations')
    .select('simulations.key')
    .where('simulations.owner_id', '=', ownerId)
    .where('simulations.id', '=', id);
}

/** Returns the key of the production run with this id in deep links; -1 if there can't be one. */
export const parseRunKey = (id: string): number =>
  // Other texts than a number would match through a conversion.
  /^[1-9]\d{0,14}$/.test(id) ? Number(id) : -1;

export function selectAgentKeys(ownerId: string, text: string) {
  return expressionBuilder<Tables>()
    .selectFrom('agents')
    .select('agents.key')
    .where('agents.owner_id', '=', ownerId)
    .where((eb) =>
      eb.or([contains('agents.name_folded', text), contains('agents.url_folded', text)]),
    );
}

type KeyQuery = ReturnType<
  typeof selectRunKeys | typeof selectAgentKeys | typeof selectEvalSetKeys
>;

/** Compares with a single key where possible: an index is then in the order of the list. */
function isOneOf(
  eb: Eb,
  column: 'sessions.run_key' | 'sessions.agent_key' | 'sessions.eval_set_key',
  keys: readonly number[] | KeyQuery,
) {
  if ('isSelectQueryBuilder' in keys) return eb(column, 'in', keys);
  const [first = -1, ...others] = keys;
  return others.length === 0 ? eb(column, '=', first) : eb(column, 'in', [first, ...others]);
}

/**
 * Matches sessions with a passed or failed outcome of an eval whose name contains the text or that has
 * the id, or with the outcome that the filter names.
 */
function addEval<Row>(query: SessionQuery<Row>, selection: Selection): SessionQuery<Row> {
  const { filter, evalSetKeys } = selection;
  const { outcome } = filter;
  if (outcome === 'failed' || outcome === 'errored') {
    return query.where((eb) => isScoredBy(eb, selection));
  }
  return (
    query
      // Follows from the rest, and selects an index that has the set.
      .where('sessions.total', '>', sql.lit(0))
      .where((eb) =>
        eb.or([
          isOneOf(eb, 'sessions.eval_set_key', evalSetKeys ?? selectEvalSetKeys(filter)),
          eb.and([eb('sessions.eval_set_key', 'is', null), isScoredBy(eb, selection)]),
        ]),
      )
  );
}

/** Reads the outcomes of sessions, of which not all may be in a set. */
function isScoredBy(eb: Eb, { filter, evalKeys }: Selection) {
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

export function selectEvalSetKeys(filter: SessionFilter) {
  return expressionBuilder<Tables>()
    .selectFrom('eval_set_members')
    .select('eval_set_members.eval_set_key as key')
    .where('eval_set_members.eval_name_key', 'in', selectEvalKeys(filter))
    .distinct();
}
