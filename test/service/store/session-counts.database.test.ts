/** Lists and their totals are those of the stored sessions, whatever changed them before. */
import type { Test } from 'tap';
import { DAY_MS } from '../../../src/platform/clock.ts';
import { seededRandom, type Random } from '../../../src/platform/random.ts';
import { openStore } from '../../../src/service/store/open-store.ts';
import type { SessionFilter, Store, StoreLocation } from '../../../src/service/store/store.ts';
import {
  newCloseRequest,
  newEval,
  newOutcome,
  newSession,
  newSimulatedSession,
  newSpan,
  newSpans,
  NOON_MS,
} from '../../support/database/rows.ts';
import { runSql } from '../../support/database/run-sql.ts';
import { filterOf } from '../../support/database/session-lists.ts';
import { testStore, withStore } from '../../support/database/store.ts';

const EVALS = ['a', 'b', 'c'];
const RUNS = ['Uploads', 'Live one', 'Live two'];
const AGENTS = ['Shop', 'Bank'].map((name) => ({ name, url: 'https://agent.example' }));
const OUTCOMES = ['pass', 'fail', 'error'] as const;

const pick = <Item>(random: Random, items: readonly Item[]): Item =>
  items[random.integer(0, items.length - 1)] as Item;

/** Returns a session on one of a few days, so that days, runs, and sets of evals are shared. */
function drawSession(random: Random, ownerId: string, writer: number) {
  const outcomes = EVALS.filter(() => random.fraction() < 0.6).map((id) =>
    newOutcome(id, pick(random, OUTCOMES)),
  );
  const common = {
    startedAtMs: NOON_MS + random.integer(-4, 4) * (DAY_MS / 2) + random.integer(0, 2),
    outcomes,
    evals: random.fraction() < 0.3 ? [newEval('d'), newEval('e')] : [],
    status: pick(random, ['completed', 'completed', 'failed'] as const),
  };
  // The store does not decide which of two concurrent sessions with the same id counts.
  const id = `session-${writer}-${random.integer(1, 8)}`;
  return random.fraction() < 0.6
    ? newSession(ownerId, id, { ...common, runName: pick(random, RUNS) })
    : newSimulatedSession(ownerId, id, {
        ...common,
        agent: pick(random, AGENTS),
        simulation: { id: pick(random, ['s1', 's2']), name: 'Nightly', deleted: false },
      });
}

interface StoredSession {
  id: string;
  kind: string;
  status: string;
  startedAtMs: number;
  run: string | null;
  agent: string | null;
  simulation: string | null;
  outcomes: { evalId: string; name: string; outcome: string }[];
}

/** Reads the sessions of an owner without the store. */
async function readSessions(location: StoreLocation): Promise<StoredSession[]> {
  const rows = await runSql(
    location,
    `select sessions.id, sessions.kind, status, sessions.started_at_ms, runs.name as run,
       agents.name || ' ' || agents.url as agent, simulations.id as simulation, outcomes.eval_id,
       eval_names.name as eval_name, outcome
     from sessions left join runs on runs.key = sessions.run_key
     left join agents on agents.key = sessions.agent_key
     left join simulations on simulations.key = sessions.simulation_key
     left join outcomes on outcomes.session_key = sessions.key
     left join eval_names on eval_names.key = outcomes.eval_name_key`,
  );
  return Array.from(
    Map.groupBy(rows, (row) => String(row['id'])),
    ([id, ofSession]) => {
      const [row = {}] = ofSession;
      const textOf = (name: string): string | null => (row[name] ?? null) as string | null;
      return {
        id,
        kind: String(row['kind']),
        status: String(row['status']),
        startedAtMs: Number(row['started_at_ms']),
        run: textOf('run'),
        agent: textOf('agent'),
        simulation: textOf('simulation'),
        outcomes: ofSession
          .filter((each) => each['outcome'] !== null)
          .map((each) => ({
            evalId: String(each['eval_id']),
            name: String(each['eval_name']),
            outcome: String(each['outcome']),
          })),
      };
    },
  );
}

/** Returns the ids that a list has to have, in its order. */
function listExpected(sessions: readonly StoredSession[], filter: SessionFilter): string[] {
  const { kind, run, agent, eval: evalName, failedOnly, outcome, runId } = filter;
  const { startedAfterMs = -Infinity, startedBeforeMs = Infinity } = filter;
  const includes = (text: string | null, part: string | undefined): boolean =>
    part === undefined || (text ?? '').toLowerCase().includes(part);
  const matches = sessions.filter((session) => {
    const has = (wanted: string): boolean =>
      session.outcomes.some((each) => each.outcome === wanted);
    const isScored = has('pass') || has('fail');
    if (kind === 'production' && !isScored && outcome === undefined && !failedOnly) return false;
    return (
      session.kind === kind &&
      session.startedAtMs >= startedAfterMs &&
      session.startedAtMs <= startedBeforeMs &&
      includes(session.run, run) &&
      includes(session.agent, agent) &&
      (runId === undefined || session.simulation === runId) &&
      (!failedOnly || has('fail')) &&
      (outcome !== 'failed' || has('fail')) &&
      (outcome !== 'errored' || has('error')) &&
      (outcome !== 'unfinished' || session.status !== 'completed') &&
      (evalName === undefined ||
        session.outcomes.some(
          (each) =>
            includes(each.name, evalName) &&
            (outcome === 'failed'
              ? each.outcome === 'fail'
              : outcome === 'errored'
                ? each.outcome === 'error'
                : each.outcome !== 'error'),
        ))
    );
  });
  return matches
    .sort((x, y) => y.startedAtMs - x.startedAtMs || (x.id < y.id ? -1 : 1))
    .map(({ id }) => id);
}

/** Draws a filter with some of the conditions that lists have. */
function drawFilter(random: Random, ownerId: string): SessionFilter {
  const often = (share: number): boolean => random.fraction() < share;
  const time = (): number => NOON_MS + random.integer(-5, 5) * (DAY_MS / 2) + random.integer(0, 2);
  const kind = pick(random, ['production', 'simulation'] as const);
  return filterOf(ownerId, {
    kind,
    failedOnly: often(0.3),
    ...(often(0.4) && { eval: pick(random, ['eval a', 'eval', 'eval d', 'missing']) }),
    ...(kind === 'production' && often(0.3) && { run: pick(random, ['live', 'uploads', 'none']) }),
    ...(kind === 'simulation' && often(0.3) && { agent: pick(random, ['shop', 'agent', 'a']) }),
    ...(kind === 'simulation' && often(0.2) && { runId: 's1' }),
    ...(often(0.3) && { startedAfterMs: time() }),
    ...(often(0.3) && { startedBeforeMs: time() }),
    ...(often(0.3) && { outcome: pick(random, ['failed', 'errored', 'unfinished'] as const) }),
  });
}

/** Compares lists, page by page, with the stored sessions. */
async function checkLists(
  t: Test,
  { store, location, ownerId }: { store: Store; location: StoreLocation; ownerId: string },
  random: Random,
  filters: number,
): Promise<void> {
  const sessions = await readSessions(location);
  for (let nth = 0; nth < filters; nth += 1) {
    const filter = drawFilter(random, ownerId);
    const expected = listExpected(sessions, filter);
    const limit = random.integer(1, 30);
    const listed: string[] = [];
    do {
      const page = await store.sessions.listPage({ ...filter, skip: listed.length, limit });
      if (page.total !== expected.length) t.equal(page.total, expected.length, 'total');
      if (page.sessions.length === 0) break;
      listed.push(...page.sessions.map(({ id }) => id));
    } while (listed.length < expected.length);
    t.same(listed, expected, JSON.stringify(filter));
  }
}

/** Checks that the stored counts add up to the counted sessions. */
async function checkCounts(t: Test, location: StoreLocation): Promise<void> {
  const group = 'kind, run_key, simulation_key, agent_key, eval_set_key, day';
  const count = (condition: string): string => `sum(case when ${condition} then 1 else 0 end)`;
  const recounted = await runSql(
    location,
    `select ${group}, count(*) as sessions, ${count('total > 0')} as scored,
       ${count('failed > 0')} as failed, ${count('errored > 0')} as errored,
       ${count("status <> 'completed'")} as unfinished,
       ${count("status = 'evaluating'")} as evaluating,
       sum(total) as evaluations, sum(passed) as passed_evaluations
     from (
       select kind, coalesce(run_key, 0) as run_key, coalesce(simulation_key, 0) as simulation_key,
         coalesce(agent_key, 0) as agent_key, eval_set_key, started_at_ms / ${DAY_MS} as day,
         total, failed, errored, passed, status
       from sessions where eval_set_key is not null) as counted
     group by ${group} order by ${group}`,
  );
  const sums = ['sessions', 'scored', 'failed', 'errored', 'unfinished', 'evaluating'];
  const stored = await runSql(
    location,
    `select ${group}, ${[...sums, 'evaluations', 'passed_evaluations']
      .map((sum) => `sum(${sum}) as ${sum}`)
      .join(', ')} from session_counts
     group by ${group} having sum(sessions) <> 0 order by ${group}`,
  );
  const toNumbers = (rows: Record<string, unknown>[]) =>
    rows.map((row) =>
      Object.fromEntries(
        Object.entries(row).map(([name, value]) => [name, name === 'kind' ? value : Number(value)]),
      ),
    );
  t.same(toNumbers(stored), toNumbers(recounted), 'the counts are those of the sessions');
}

/** Takes due jobs and finishes some of them, so that sessions stay partly scored. */
async function scoreSome(random: Random, store: Store, worker: string): Promise<void> {
  const jobs = await store.jobs.take(worker, NOON_MS + DAY_MS, 1, random.integer(1, 5));
  const finished = jobs
    .filter(() => random.fraction() < 0.7)
    .map((job) => ({ job, outcome: newOutcome(job.definition.id, pick(random, OUTCOMES)) }));
  if (finished.length > 0) await store.jobs.finishAll(worker, finished, NOON_MS);
}

testStore('lists and totals are right after any changes at the same time', async (t) => {
  const { store, sink, ownerId, location } = await withStore(t);
  const second = await openStore(location);
  t.teardown(() => second.close());
  const random = seededRandom('changes');
  let conversations = 0;
  const changes: ((db: Store, nth: number) => Promise<unknown>)[] = [
    (db, nth) => db.sessions.add(drawSession(random, ownerId, nth)),
    (db, nth) => {
      const sessions = Array.from({ length: 8 }, () => drawSession(random, ownerId, nth));
      return db.sessions.addAll(sessions);
    },
    (db, nth) => scoreSome(random, db, `worker-${nth}`),
    async (db) => {
      const conversationId = `conversation-${(conversations += 1)}`;
      await sink.insert([newSpans(ownerId, [newSpan(conversationId, { conversationId })])]);
      await db.conversations.close(newCloseRequest(ownerId, { conversationId }));
    },
    (db) =>
      db.retention.removeSpans(ownerId, {
        receivedBeforeMs: NOON_MS + 2 * DAY_MS,
        atMs: NOON_MS + 2 * DAY_MS,
      }),
  ];
  for (let round = 0; round < 12; round += 1) {
    await Promise.all(
      Array.from({ length: 8 }, (_, nth) =>
        pick(random, changes)(nth % 2 === 0 ? store : second, nth),
      ),
    );
    await checkCounts(t, location);
    await checkLists(t, { store, location, ownerId }, random, 8);
  }
  await store.deleteOwnerData(ownerId);
  await checkCounts(t, location);
  await checkLists(t, { store, location, ownerId }, random, 4);
});

testStore('sessions of an earlier version are listed before they are counted', async (t) => {
  const { store, ownerId, location } = await withStore(t);
  const random = seededRandom('earlier version');
  const sessions = Array.from({ length: 300 }, (_, nth) => ({
    ...drawSession(random, ownerId, 1),
    id: `session-${nth}`,
  }));
  await store.sessions.addAll(sessions);
  // An earlier version left the column empty, so that triggers counted nothing.
  await runSql(location, 'update sessions set eval_set_key = null');
  const lists = { store, location, ownerId };
  await checkLists(t, lists, random, 8);
  t.equal(await store.sessions.countStored(ownerId), true, 'a part is counted');
  await checkCounts(t, location);
  await checkLists(t, lists, random, 8);
  while (await store.sessions.countStored(ownerId));
  await checkCounts(t, location);
  t.same(
    await runSql(
      location,
      "select id from sessions where eval_set_key is null and status <> 'evaluating'",
    ),
    [],
    'all are counted',
  );
  await checkLists(t, lists, random, 8);
});
