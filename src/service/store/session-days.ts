/** How many sessions match a filter, and where in their list a page is. */
import { sql } from 'kysely';
import { DAY_MS } from '../../platform/clock.ts';
import type { Reader } from './connections.ts';
import { boundsOfDay, dayOf } from './schema/session-counts.ts';
import type { Tables } from './schema/tables.ts';
import {
  applyFilter,
  listKeys,
  parseRunKey,
  selectAgentKeys,
  selectEvalSetKeys,
  selectRunKeys,
  selectSimulationKey,
  type Selection,
} from './session-filter.ts';
import type { SessionFilter } from './records.ts';

/** The number of matches that started on a day. */
interface DayCount {
  day: number;
  sessions: number;
}

/** Counts matches by reading them. */
export async function countSessions(db: Reader, selection: Selection): Promise<number> {
  const query = applyFilter(
    db.selectFrom('sessions').select(({ fn }) => fn.countAll<number>().as('total')),
    selection,
  );
  return (await query.executeTakeFirstOrThrow()).total;
}

/**
 * Returns the number of matches of each day that has some, newest first. Returns undefined if the filter
 * depends on more than the stored counts do.
 */
export async function countByDay(
  db: Reader,
  selection: Selection,
): Promise<DayCount[] | undefined> {
  const { startedAfterMs, startedBeforeMs } = selection.filter;
  const stored = selectStored(db, selection);
  if (!stored) return undefined;
  const counts = new Map<number, number>();
  for (const { day, sessions } of [
    ...(await stored.execute()),
    ...(await countUncounted(db, selection)),
  ]) {
    counts.set(day, (counts.get(day) ?? 0) + sessions);
  }
  for (const ms of [startedAfterMs, startedBeforeMs]) {
    if (ms === undefined) continue;
    const day = dayOf(ms);
    const { fromMs, toMs } = boundsOfDay(day);
    const isPart = fromMs < (startedAfterMs ?? -Infinity) || toMs > (startedBeforeMs ?? Infinity);
    if (isPart && counts.has(day)) {
      counts.set(day, await countSessions(db, narrow(selection, day, day)));
    }
  }
  return Array.from(counts, ([day, sessions]) => ({ day, sessions }))
    .filter(({ sessions }) => sessions > 0)
    .sort((left, right) => right.day - left.day);
}

/** Selects the stored counts. */
function selectStored(db: Reader, selection: Selection) {
  const { filter, runKeys, agentKeys, evalSetKeys } = selection;
  const { ownerId, kind, run, agent, runId, startedAfterMs, startedBeforeMs } = filter;
  const sum = findSum(filter);
  if (!sum) return undefined;
  let query = db
    .selectFrom('session_counts')
    .select(({ fn }) => ['day', fn.sum<number>(sum).as('sessions')])
    .where('owner_id', '=', ownerId)
    .where('kind', '=', kind)
    .groupBy('day');
  // An empty list is not SQL.
  if (run) {
    query = query.where('run_key', 'in', runKeys ? [...runKeys, -1] : selectRunKeys(ownerId, run));
  }
  if (agent) {
    const keys = agentKeys ? [...agentKeys, -1] : selectAgentKeys(ownerId, agent);
    query = query.where('agent_key', 'in', keys);
  }
  if (runId) {
    query =
      kind === 'production'
        ? query.where('run_key', '=', parseRunKey(runId))
        : query.where('simulation_key', 'in', selectSimulationKey(ownerId, runId));
  }
  if (hasEval(filter)) {
    const keys = evalSetKeys ? [...evalSetKeys, -1] : selectEvalSetKeys(filter);
    query = query.where('eval_set_key', 'in', keys);
  }
  if (startedAfterMs !== undefined) query = query.where('day', '>=', dayOf(startedAfterMs));
  if (startedBeforeMs !== undefined) query = query.where('day', '<=', dayOf(startedBeforeMs));
  return query;
}

/** Returns the column that counts the matches of a filter; undefined if no column does. */
function findSum(filter: SessionFilter): keyof Tables['session_counts'] | undefined {
  const { kind, failedOnly, outcome, scenarioId } = filter;
  const isOfOutcome = outcome === 'failed' || outcome === 'errored';
  if (scenarioId || (hasEval(filter) && isOfOutcome)) return undefined;
  if (failedOnly) return outcome === undefined || outcome === 'failed' ? 'failed' : undefined;
  return outcome ?? (kind === 'production' ? 'scored' : 'sessions');
}

const hasEval = ({ eval: name, evalId }: SessionFilter): boolean =>
  Boolean(name) || Boolean(evalId);

/** Counts the matches that are not in the stored counts. Usually, these are few or none. */
async function countUncounted(db: Reader, selection: Selection): Promise<DayCount[]> {
  const { ownerId, kind } = selection.filter;
  const uncounted = db
    .selectFrom('sessions')
    .select('sessions.key')
    .where('sessions.owner_id', '=', ownerId)
    .where('sessions.kind', '=', kind)
    .where('sessions.eval_set_key', 'is', null);
  const keys = await listKeys(db, uncounted);
  if (keys?.length === 0) return [];
  // With the limit, SQLite reads these sessions first, and not all that match.
  const few = db
    .selectFrom('sessions')
    .selectAll()
    .where('sessions.key', 'in', keys ?? [])
    .limit(keys?.length ?? 0);
  const day = sql<number>`cast(sessions.started_at_ms / ${sql.lit(DAY_MS)} as integer)`;
  const counted = keys
    ? applyFilter(db.selectFrom(few.as('sessions')), selection)
    : applyFilter(db.selectFrom('sessions'), selection).where('sessions.eval_set_key', 'is', null);
  return counted
    .select(({ fn }) => [day.as('day'), fn.countAll<number>().as('sessions')])
    .groupBy(day)
    .execute();
}

/** A part of a list. */
export interface Part {
  /** The list from the first day of the page to the last, with the page in it. */
  selection: Selection;
  total: number;
}

/** Finds the days of a page, so that the sessions before and after them need not be read. */
export function findPart(selection: Selection, days: readonly DayCount[]): Part {
  const { skip, limit } = selection.filter;
  let skipped = 0;
  let total = 0;
  const ofPage: number[] = [];
  for (const { day, sessions } of days) {
    if (total === 0 && skipped + sessions <= skip) {
      skipped += sessions;
      continue;
    }
    if (skipped + total >= skip + limit) break;
    ofPage.push(day);
    total += sessions;
  }
  const narrowed = narrow(selection, ofPage.at(-1) ?? 0, ofPage[0] ?? 0);
  return {
    selection: { ...narrowed, filter: { ...narrowed.filter, skip: skip - skipped } },
    total,
  };
}

/** Restricts a filter to sessions from a day to a later one. */
function narrow(selection: Selection, fromDay: number, toDay: number): Selection {
  const { startedAfterMs = -Infinity, startedBeforeMs = Infinity } = selection.filter;
  return {
    ...selection,
    filter: {
      ...selection.filter,
      startedAfterMs: Math.max(startedAfterMs, boundsOfDay(fromDay).fromMs),
      startedBeforeMs: Math.min(startedBeforeMs, boundsOfDay(toDay).toMs),
    },
  };
}
