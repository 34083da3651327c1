/**
 * `kill -9` of replicas and of their database, connections that end during a commit, and a slow network,
 * while clients send spans and close conversations, readers list sessions, and simulated users talk.
 * CRASH_SEED sets the random seed, which determines what the clients send, what is killed, after how
 * many responses, and for how long; a failure prints it.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent, fetch } from 'undici';
import t, { type Test } from 'tap';
import type { Simulation } from '../../src/contract/index.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { randomSeed, seededRandom, type Random } from '../../src/platform/random.ts';
import {
  assertStoredOnce,
  countRuns,
  listViolations,
  watchChanges,
  type Query,
} from '../support/crashes/crash-audit.ts';
import {
  assertScoredOnce,
  drain,
  evals,
  listPage,
  listSessions,
  planConversation,
  sendConversation,
  summarizeEndCalls,
  type Exchange,
  type PlannedConversation,
  type Route,
} from '../support/crashes/crash-clients.ts';
import {
  countErrors,
  disturbances,
  startCluster,
  waitUntilReady,
  type Cluster,
} from '../support/crashes/crash-cluster.ts';
import { execute } from '../support/database/postgres.ts';
import { behaviors, startOpenAiServer, type Behavior } from '../support/models/openai-server.ts';
import { atNight } from '../support/nightly.ts';
import {
  reply,
  withSandboxDouble,
  type SandboxDouble,
} from '../support/sandboxes/sandbox-double.ts';
import type { ServiceProcess } from '../support/services/service-process.ts';
import { makeUserScenario } from '../support/sessions/scenarios.ts';

const { CRASH_SEED = randomSeed() } = process.env;
/** Once for each kind of disturbance, unless it is night. */
const ROUNDS = atNight(28, 7);
const REPLICAS = 3;
const CLIENTS = 8;
const CONVERSATIONS_PER_CLIENT = 10;
/** Fewer than all responses, so that something is killed in each round. */
const RESPONSES_BEFORE_KILL_MAX = 120;
const DOWN_MS_MIN = 500;
const DOWN_MS_MAX = 3_000;
/** How long a client repeats a request, and the pause before it does. */
const REPEAT_MS_MAX = 60_000;
const PAUSE_MS = 400;
/** The longest time that a request may take while the database is unreachable. */
const HELD_MS_MAX = 9_000;
/** Longer than the lease of a job. */
const LEASE_ENDS_MS = 61_000;
const DAY_MS = 86_400_000;
/** Conversations of a round start on two days, each with its own run. */
const ROUND_DAYS = 2;
const FIRST_DAY_MS = Date.UTC(2026, 5, 1);
const START_MS_MAX = 3_600_000;

const judged = { id: 'judged', name: 'Judged', kind: 'judge', params: { criteria: 'It is nice.' } };
const allEvals = [...evals, judged];
const LINES = ['One', 'Two', 'Three'];
const scenario = makeUserScenario(
  { opening: 'One', steps: [{ say: 'Two' }, { say: 'Three' }] },
  { evals: [{ id: 'turns', name: 'Few turns', kind: 'max_turns', params: { max: 5 } }] },
);
const SAMPLES = 12;
const CONCURRENCY = 3;

/** Errors that a replica logs while its database fails or it hears nothing from another replica. */
const EXPECTED_ERRORS = ['database_failed'];

// A key allows 120 requests per minute, so each client has its own in each of several rounds.
const KEY_SETS = 10;
const keyOf = (round: number, user: string): string => `key-${round % KEY_SETS}-${user}`;
const users = [
  'reader',
  ...Array.from({ length: CLIENTS }, (_, client) => [`${client}-0`, `${client}-1`]).flat(),
];

/** Everything that the rounds share. */
interface Setup {
  cluster: Cluster;
  dispatcher: Agent;
  sandbox: SandboxDouble;
  /** How often the judge was asked about each conversation. */
  asked: Map<string, number>;
  totals: Totals;
}

interface Totals {
  rounds: Record<string, number>;
  acknowledged: number;
  refusedWith503: number;
  withoutResponse: number;
  conversations: number;
  spans: number;
  outcomes: number;
  simulatedSessions: number;
  repeatedChats: number;
  askedAgain: number;
  longestRequestMs: number;
  longestRecoveryMs: number;
  longestWithoutAcknowledgmentMs: number;
}

const createTotals = (): Totals => ({
  rounds: {},
  acknowledged: 0,
  refusedWith503: 0,
  withoutResponse: 0,
  conversations: 0,
  spans: 0,
  outcomes: 0,
  simulatedSessions: 0,
  repeatedChats: 0,
  askedAgain: 0,
  longestRequestMs: 0,
  longestRecoveryMs: 0,
  longestWithoutAcknowledgmentMs: 0,
});

async function setUp(t: Test): Promise<Setup> {
  const dispatcher = new Agent();
  t.teardown(() => dispatcher.destroy());
  const asked = new Map<string, number>();
  const judge = await startOpenAiServer(t);
  judge.behave(judgeSlowly(asked));
  const sandbox = await withSandboxDouble(t, {
    chat: (response, request) =>
      void systemClock.sleep(40).then(() => reply('Yes.')(response, request)),
  });
  const folder = mkdtempSync(join(tmpdir(), 'kit-crash-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const seedFile = join(folder, 'seed.json');
  const rounds = Array.from({ length: KEY_SETS }, (_, round) => round);
  const keys = rounds.flatMap((round) => users.map((user) => ({ key: keyOf(round, user) })));
  const settings = { evals: allEvals.map(({ id }) => id) };
  writeFileSync(seedFile, JSON.stringify({ keys, evals: allEvals, settings }));
  const cluster = await startCluster(t, REPLICAS, {
    args: ['--seed-file', seedFile],
    env: { SANDBOX_KIT_JUDGE_URL: judge.baseUrl, SANDBOX_KIT_JUDGE_MODEL: 'm' },
  });
  await watchChanges(cluster.database.url);
  return { cluster, dispatcher, sandbox, asked, totals: createTotals() };
}

/** Takes some time for each verdict, so that evals are being scored when a replica is killed. */
function judgeSlowly(asked: Map<string, number>): Behavior {
  return (request, response) => {
    const transcript = request.body.messages.at(-1)?.content ?? '';
    const id = /(r\d+-c\d+-\d+), turn/.exec(transcript)?.[1] ?? '';
    asked.set(id, (asked.get(id) ?? 0) + 1);
    void systemClock.sleep(60).then(() => behaviors.verdict('pass')(request, response));
  };
}

interface Round {
  number: number;
  chance: Random;
  /** What is killed. */
  victim: string;
}

/** Lets clients send and readers read, and kills something meanwhile. Returns what was sent. */
async function sendAndKill(
  t: Test,
  setup: Setup,
  { number, chance, victim }: Round,
): Promise<PlannedConversation[]> {
  const { cluster, dispatcher, totals } = setup;
  const planned: PlannedConversation[] = [];
  const responsesBeforeKill = chance.integer(1, RESPONSES_BEFORE_KILL_MAX);
  const killed = Promise.withResolvers<undefined>();
  let responses = 0;
  let lastMs = systemClock.monotonicMs();
  const onAcknowledged = (): void => {
    const nowMs = systemClock.monotonicMs();
    const sinceMs = Math.round(nowMs - lastMs);
    totals.longestWithoutAcknowledgmentMs = Math.max(
      totals.longestWithoutAcknowledgmentMs,
      sinceMs,
    );
    lastMs = nowMs;
    totals.acknowledged += 1;
    responses += 1;
    if (responses === responsesBeforeKill) killed.resolve(undefined);
  };
  const onExchange = (exchange: Exchange): void => checkExchange(t, setup, exchange);
  const routeOf = (clientChance: Random, user: string): Route => {
    const { url } = chooseReplica(cluster, clientChance);
    return { url, dispatcher, key: keyOf(number, user), isDatabaseRemote: true, onExchange };
  };
  const runClient = async (client: number): Promise<void> => {
    const clientChance = chance.fork(`client ${client}`);
    for (let nth = 0; nth < CONVERSATIONS_PER_CLIENT; nth += 1) {
      const dayMs = FIRST_DAY_MS + (number * ROUND_DAYS + (nth % ROUND_DAYS)) * DAY_MS;
      const startMs = dayMs + clientChance.integer(0, START_MS_MAX);
      const conversation = planConversation(clientChance, `r${number}-c${client}-${nth}`, startMs);
      planned.push(conversation);
      const giveUpAtMs = systemClock.monotonicMs() + REPEAT_MS_MAX;
      const send = () => {
        const route = routeOf(clientChance, `${client}-${nth % 2}`);
        return sendConversation(conversation, route, onAcknowledged);
      };
      while (!(await send())) {
        if (systemClock.monotonicMs() > giveUpAtMs) throw new Error('Nothing is acknowledged.');
        await systemClock.sleep(PAUSE_MS);
      }
    }
  };
  const ended = new AbortController();
  const reading = readUntil(ended.signal, () => routeOf(chance, 'reader'));
  try {
    await Promise.all([
      killed.promise.then(() => killAndRepair(setup, victim, chance.fork('victim'))),
      ...Array.from({ length: CLIENTS }, (_, client) => runClient(client)),
    ]);
  } finally {
    ended.abort();
    await reading;
  }
  return planned;
}

const chooseReplica = ({ replicas }: Cluster, chance: Random): ServiceProcess =>
  replicas[chance.integer(0, replicas.length - 1)] as ServiceProcess;

/** Asserts that a request got 200, or a 503 with the time to wait; only a killed replica may break off. */
function checkExchange(t: Test, { cluster, totals }: Setup, exchange: Exchange): void {
  const { url, path, ms, status, retryAfter } = exchange;
  totals.longestRequestMs = Math.max(totals.longestRequestMs, Math.round(ms));
  if (ms > HELD_MS_MAX) t.fail(`${path} took ${Math.round(ms)} ms`);
  if (status === undefined) {
    totals.withoutResponse += 1;
    if (!cluster.killedUrls.has(url)) t.fail(`${path} got no response from a running replica`);
  } else if (status === 503) {
    totals.refusedWith503 += 1;
    if (!/^[1-9]\d*$/.test(retryAfter ?? '')) t.fail(`${path}: a 503 without Retry-After`);
  } else if (status !== 200) t.fail(`${path}: ${status}`);
}

/** Lists sessions again and again. */
async function readUntil(signal: AbortSignal, getRoute: () => Route): Promise<void> {
  while (!signal.aborted) {
    const { url, key, dispatcher, onExchange } = getRoute();
    const path = '/api/prod-evaluations/sessions/?limit=3&include_traces=true';
    const startedMs = systemClock.monotonicMs();
    const result: Pick<Exchange, 'status' | 'retryAfter'> = {
      status: undefined,
      retryAfter: undefined,
    };
    try {
      const headers = { 'x-service-api-key': key };
      const response = await fetch(url + path, { dispatcher, headers });
      await response.json();
      result.status = response.status;
      result.retryAfter = response.headers.get('retry-after') ?? undefined;
    } catch {
      // The replica went down.
    }
    onExchange?.({ url, path, ...result, ms: systemClock.monotonicMs() - startedMs });
    await systemClock.sleep(PAUSE_MS, signal).catch(() => undefined);
  }
}

async function killAndRepair(
  { cluster, totals }: Setup,
  victim: string,
  chance: Random,
): Promise<void> {
  const repair = await disturbances[victim]?.(cluster, chance);
  await systemClock.sleep(chance.integer(DOWN_MS_MIN, DOWN_MS_MAX));
  await repair?.();
  const repairedMs = systemClock.monotonicMs();
  await waitUntilReady(cluster);
  const recoveryMs = Math.round(systemClock.monotonicMs() - repairedMs);
  totals.longestRecoveryMs = Math.max(totals.longestRecoveryMs, recoveryMs);
}

/** Ends the leases of killed replicas: the clock of all replicas is moved past them. */
async function endLeases({ request }: ServiceProcess): Promise<void> {
  await request('/__admin/clock', { advance_ms: LEASE_ENDS_MS });
}

/** Asserts what clients see, and what the database contains. */
async function assertRound(
  t: Test,
  { cluster, asked, totals }: Setup,
  { number }: Round,
  planned: PlannedConversation[],
): Promise<void> {
  const [service] = cluster.replicas as [ServiceProcess];
  const databaseUrl = cluster.database.url;
  const query: Query = (statement) => execute(databaseUrl, statement);
  const beganMs = FIRST_DAY_MS + number * ROUND_DAYS * DAY_MS;
  const items = await listSessions(service, beganMs, ROUND_DAYS * DAY_MS);
  assertScoredOnce(t, planned, items, allEvals);
  const { queued, repeated } = summarizeEndCalls(planned);
  t.equal(queued, (planned.length - repeated) * allEvals.length, 'each eval was queued once');
  const misplaced = items.filter(({ run, started_at: startedAt }) => {
    return run !== `Live traces ${startedAt.slice(0, 10)}`;
  });
  t.same(misplaced, [], 'each conversation is in the run of its day');
  const { spans, judgeAttempts } = await assertStoredOnce(t, query, planned, {
    prefix: `r${number}-`,
    evalCount: allEvals.length,
  });
  const tooOften = [...judgeAttempts].filter(([id, attempts]) => (asked.get(id) ?? 0) > attempts);
  t.same(tooOften, [], 'the judge is asked again only when another replica takes the job');
  for (const [id] of judgeAttempts) totals.askedAgain += (asked.get(id) ?? 0) - 1;
  totals.conversations += planned.length;
  totals.spans += spans;
  totals.outcomes += planned.length * allEvals.length;
  const { total } = await listPage(service, { limit: '1' });
  t.equal(total, totals.conversations, 'earlier sessions remain');
  t.same(
    await countRuns(databaseUrl),
    { runs: (number + 1) * ROUND_DAYS, names: (number + 1) * ROUND_DAYS },
    'no run of a day is split',
  );
}

/** Asserts that a simulation has each of its sessions once. */
async function assertSimulation(
  t: Test,
  { cluster, sandbox, totals }: Setup,
  id: string,
  chatsBefore: number,
): Promise<void> {
  const [service] = cluster.replicas as [ServiceProcess];
  const simulation = await service.request<Simulation>(`/__admin/simulations/${id}`);
  t.match(simulation, { status: 'completed', verdict: 'passed' });
  t.match(simulation.counts, { sessions: SAMPLES, ended: SAMPLES });
  const sessions = await execute(
    cluster.database.url,
    `select sample, sessions.status, end_reason,
       (select json_agg(user_input order by sequence) from turns where session_key = sessions.key)
         as lines,
       (select count(*)::int from outcomes where session_key = sessions.key) as outcomes
     from sessions join simulations on simulations.key = simulation_key
     where simulations.id = '${id}' order by sample`,
  );
  const expected = Array.from({ length: SAMPLES }, (_, nth) => ({
    sample: String(nth + 1),
    status: 'completed',
    lines: LINES,
    outcomes: 1,
  }));
  t.match(sessions, expected, 'each session is stored once, with each turn once');
  t.equal(sessions.length, SAMPLES);
  const repeated = sandbox.chats().length - chatsBefore - SAMPLES * LINES.length;
  t.ok(
    repeated >= 0 && repeated <= CONCURRENCY * LINES.length,
    `${repeated} requests of interrupted sessions were repeated`,
  );
  totals.simulatedSessions += sessions.length;
  totals.repeatedChats += repeated;
}

/** Returns what is killed in each round: everything equally often, in random order. */
function planVictims(chance: Random): string[] {
  const names = Object.keys(disturbances);
  const order = names.map((name) => ({ name, rank: chance.fraction() }));
  const shuffled = order.sort((left, right) => left.rank - right.rank).map(({ name }) => name);
  return Array.from({ length: ROUNDS }, (_, round) => shuffled[round % names.length] ?? '');
}

async function runRound(t: Test, setup: Setup, round: Round): Promise<void> {
  const { cluster, sandbox, totals } = setup;
  const startedMs = systemClock.monotonicMs();
  const chatsBefore = sandbox.chats().length;
  const { id } = await chooseReplica(cluster, round.chance).request<Simulation>(
    '/__admin/simulations',
    {
      agent: { name: 'A', url: sandbox.url },
      scenarios: [scenario],
      samples: SAMPLES,
      seed: `S${round.number}`,
      concurrency: CONCURRENCY,
    },
  );
  const planned = await sendAndKill(t, setup, round);
  const sentMs = systemClock.monotonicMs();
  const [service] = cluster.replicas as [ServiceProcess];
  await endLeases(service);
  await drain(service);
  const drainedMs = systemClock.monotonicMs();
  await assertRound(t, setup, round, planned);
  await assertSimulation(t, setup, id, chatsBefore);
  t.same(await listViolations(cluster.database.url), [], 'nothing final was changed');
  for (const { child } of cluster.replicas) {
    t.same([child.exitCode, child.signalCode], [null, null], 'only killed replicas ended');
  }
  totals.rounds[round.victim] = (totals.rounds[round.victim] ?? 0) + 1;
  t.comment(
    `round ${round.number}, ${round.victim}: ${planned.length} conversations, ` +
      `sent in ${Math.round(sentMs - startedMs)} ms, drained in ${Math.round(drainedMs - sentMs)} ms`,
  );
}

void t.test(
  'after kill -9 of replicas, the database, and connections, nothing is lost or duplicated',
  { timeout: 0 },
  async (t) => {
    t.comment(`CRASH_SEED=${CRASH_SEED}`);
    const chance = seededRandom(CRASH_SEED);
    const setup = await setUp(t);
    const { cluster, totals } = setup;
    for (const [number, victim] of planVictims(chance).entries()) {
      await runRound(t, setup, { number, victim, chance: chance.fork(`round ${number}`) });
      if (!t.passing()) break;
    }
    const codes = await Promise.all(cluster.replicas.map(({ end }) => end('SIGTERM')));
    t.same(codes, [0, 0, 0], 'the replicas stop in order');
    const errors = countErrors(cluster);
    const unexpected = Object.keys(errors).filter((event) => !EXPECTED_ERRORS.includes(event));
    t.same(unexpected, [], 'the replicas logged only failures of the database');
    t.comment('errors in the logs', errors);
    t.comment('commits that were cut', cluster.proxy.countCuts());
    t.comment('totals', totals);
    t.ok(totals.refusedWith503 + totals.withoutResponse > 0, 'some requests were interrupted');
  },
);
