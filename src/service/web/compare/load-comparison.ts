import type { ScenarioResult } from '../../../contract/index.ts';
import {
  compareEvals,
  type ComparedEvals,
  type EvaluatedRun,
} from '../../runs/comparison/eval-changes.ts';
import { compareRuns, type ComparedRuns } from '../../runs/comparison/run-comparison.ts';
import { riseOf } from '../../runs/comparison/scenario-changes.ts';
import { decideVerdict } from '../../sessions/verdict.ts';
import { loadTurns } from '../../sessions/transcripts.ts';
import type { SessionTurn } from '../../turns/turn-types.ts';
import type { Simulations } from '../../operations/simulations.ts';
import { listStoredDefinitions, type StoredDefinitions } from '../runs/stored-definitions.ts';
import type {
  RunDetails,
  RunNeighbors,
  RunRef,
  RunSums,
  RunTraits,
  Session,
  SimulationPlan,
  Store,
} from '../../store/store.ts';

/** A compared run. The evals of a simulation are not compared. */
export type RunOfSide = RunSums & Partial<Pick<RunDetails, 'evals'>>;

/** One of two compared runs. */
export interface Side {
  ref: RunRef;
  details: RunOfSide;
  /** A simulation that this service started. */
  plan: SimulationPlan | undefined;
  scenarios: readonly ScenarioResult[];
  traits: RunTraits;
  neighbors: RunNeighbors;
}

/** The transcript of a session in a comparison. */
export interface ComparedSession {
  session: Session;
  turns: readonly SessionTurn[];
}

/** A session that did not pass, and one of the same scenario from the run before. */
export interface TranscriptPair {
  scenarioId: string;
  before: ComparedSession | undefined;
  after: ComparedSession;
}

/** Two runs and how they differ. */
export interface RunComparison {
  before: Side;
  after: Side;
  result: ({ kind: 'simulation' } & ComparedRuns) | ({ kind: 'production' } & ComparedEvals);
  pairs: readonly TranscriptPair[];
  stored: StoredDefinitions;
}

/** The sources of a comparison. */
export interface ComparisonOptions {
  store: Store;
  simulations: Pick<Simulations, 'judge'>;
}

/** How many of the newest sessions of a run are read to find what changed. */
const TRAIT_SESSIONS_MAX = 50;
/** The most scenarios whose transcripts are shown. */
const PAIRS_MAX = 5;
/** The most sessions of a scenario that are searched for a pair. */
const SAMPLES_MAX = 5;

/** Loads two runs and compares them. */
export async function loadComparison(
  deps: ComparisonOptions,
  sides: readonly [
    before: { ref: RunRef; details: RunOfSide },
    after: { ref: RunRef; details: RunOfSide },
  ],
): Promise<RunComparison> {
  const [before, after] = [await loadSide(deps, sides[0]), await loadSide(deps, sides[1])];
  const stored = await listStoredDefinitions(deps.store, before.ref.ownerId);
  if (before.ref.kind === 'production') {
    const result = compareEvals(toEvaluatedRun(before), toEvaluatedRun(after));
    return { before, after, stored, result: { kind: 'production', ...result }, pairs: [] };
  }
  const result = compareRuns(after.scenarios, before.scenarios);
  const pairs: TranscriptPair[] = [];
  for (const row of result.rows) {
    if (pairs.length >= PAIRS_MAX) break;
    if (!row.before || !row.now || riseOf(row) >= 0) continue;
    const scenarioId = row.scenario_id;
    const pair = await findPair(deps.store, { before: before.ref, after: after.ref, scenarioId });
    if (pair) pairs.push(pair);
  }
  return { before, after, stored, result: { kind: 'simulation', ...result }, pairs };
}

const toEvaluatedRun = ({ details: { run, evals = [] } }: Side): EvaluatedRun => ({
  evals,
  sessions: { passed: run.sessions - run.failedSessions, failed: run.failedSessions },
});

async function loadSide(
  { store, simulations }: ComparisonOptions,
  { ref, details }: { ref: RunRef; details: RunOfSide },
): Promise<Side> {
  const { kind, ownerId, id } = ref;
  const isSimulation = kind === 'simulation';
  return {
    ref,
    details,
    plan: isSimulation ? await store.simulations.find(ownerId, id) : undefined,
    scenarios: isSimulation ? await simulations.judge(ownerId, id, details.scenarios) : [],
    traits: await store.runs.readTraits(ref, TRAIT_SESSIONS_MAX),
    neighbors: await store.runs.findNeighbors(ref),
  };
}

/** Finds a session that did not pass whose sample passed before, or else the closest to it. */
async function findPair(
  store: Store,
  { before, after, scenarioId }: { before: RunRef; after: RunRef; scenarioId: string },
): Promise<TranscriptPair | undefined> {
  const { runs } = store;
  const failing = await runs.listSamples({ ...after, scenarioId }, ['failed'], SAMPLES_MAX);
  const others = await runs.listSamples(
    { ...before, scenarioId },
    ['passed', 'undecided', 'failed'],
    SAMPLES_MAX,
  );
  const [passed] = await runs.listSamples({ ...before, scenarioId }, ['passed'], 1);
  let pair: { session: Session; counterpart: Session | undefined } | undefined;
  for (const session of failing) {
    const sample = session.simulated?.sample ?? 1;
    const counterpart = await runs.findSample({ ...before, scenarioId }, sample);
    pair ??= { session, counterpart: passed ?? counterpart ?? others[0] };
    if (counterpart && decideVerdict(counterpart) === 'passed') {
      pair = { session, counterpart };
      break;
    }
  }
  if (!pair) return undefined;
  const load = async (session: Session): Promise<ComparedSession> => ({
    session,
    turns: await loadTurns(store, session),
  });
  return {
    scenarioId,
    before: pair.counterpart && (await load(pair.counterpart)),
    after: await load(pair.session),
  };
}
