import { sql } from 'kysely';
import type { Reader } from './connections.ts';
import type { Neighbors, SessionFilter, SessionPage } from './records.ts';
import { countByDay, countSessions, findPart, type Part } from './session-days.ts';
import { applyFilter, lookUpNames, type Selection } from './session-filter.ts';
import { findSessions, loadSessions, type SessionQuery } from './session-rows.ts';
import { contains } from './text-search.ts';

/**
 * Returns a page of sessions with their outcomes, newest first, and the number of all matches (spec
 * 4.3, 4.4). Call it in a transaction, so that both come from one snapshot.
 */
export async function findSessionPage(db: Reader, filter: SessionFilter): Promise<SessionPage> {
  const { skip, limit } = filter;
  const selection = await lookUpNames(db, filter);
  const days = await countByDay(db, selection);
  const total = days
    ? days.reduce((sum, { sessions }) => sum + sessions, 0)
    : await countSessions(db, selection);
  if (isSearch(filter)) {
    const keys = await searchSessions(db, selection);
    const sessions = await loadSessions(db, keys.slice(skip, skip + limit));
    const isCut = total > SEARCHED_MAX;
    return { sessions, total: keys.length, ...(isCut && { searched: SEARCHED_MAX }) };
  }
  const part = days ? findPart(selection, days) : { selection, total };
  return { sessions: await loadSessions(db, await findPageKeys(db, part)), total };
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

/** Up to this many sessions of an eval are collected and sorted; more are found in order. */
const COLLECTED_MAX = 1_000;

/**
 * Up to this many sessions of several runs or agents are collected and sorted. They can all be old, so
 * a search in order could read all newer ones.
 */
const COLLECTED_OF_FEW_MAX = 200_000;

/** Finds a page from the nearer end of the list, because the database reads all rows that it skips. */
async function findPageKeys(db: Reader, { selection, total }: Part): Promise<number[]> {
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
