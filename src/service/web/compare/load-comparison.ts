import type { ComparedScenario, ScenarioResult } from '../../../contract/index.ts';
import { computeChance, type Counts } from '../../domain/chance.ts';
import { decideVerdict } from '../../domain/sessions.ts';
import { loadTurns } from '../../domain/transcripts.ts';
import type { SessionTurn } from '../../turns/turn-types.ts';
import { compareScenarios } from '../../domain/simulation-results/scenario-comparison.ts';
import { summarizeCounts } from '../../domain/simulation-results/scenario-results.ts';
import type { Simulations } from '../../operations/simulations.ts';
import type {
  EvalCounts,
  RunDetails,
  RunNeighbors,
  RunRef,
  RunTraits,
  Session,
  SessionKind,
  SimulationPlan,
  Store,
} from '../../store/store.ts';

/** One of two compared runs. */
export interface Side {
  ref: RunRef;
  details: RunDetails;
  /** A simulation that this service started. */
  plan: SimulationPlan | undefined;
  scenarios: readonly ScenarioResult[];
  traits: RunTraits;
  neighbors: RunNeighbors;
}

/** An eval in two runs. */
export interface ComparedEval {
  id: string;
  name: string;
  before: EvalCounts | undefined;
  after: EvalCounts | undefined;
  /** The p-value of the difference; undefined without samples in both. */
  chance: number | undefined;
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
  kind: SessionKind;
  before: Side;
  after: Side;
  /** Empty for production runs. Regressions first. */
  scenarios: readonly (ComparedScenario & { chance: number | undefined })[];
  /** Empty for simulations. */
  evals: readonly ComparedEval[];
  pairs: readonly TranscriptPair[];
}

/** What a comparison is read from. */
export interface ComparisonOptions {
  store: Store;
  simulations: Simulations;
}

/** How many of the newest sessions of a run are read to find what changed. */
const TRAIT_SESSIONS_MAX = 50;
/** The most regressed scenarios whose transcripts are shown. */
const PAIRS_MAX = 5;
/** The most sessions of a scenario in which a pair is looked for. */
const SAMPLES_MAX = 5;

/** Loads two runs and compares them. */
export async function loadComparison(
  deps: ComparisonOptions,
  sides: readonly [
    before: { ref: RunRef; details: RunDetails },
    after: { ref: RunRef; details: RunDetails },
  ],
): Promise<RunComparison> {
  const [before, after] = [await loadSide(deps, sides[0]), await loadSide(deps, sides[1])];
  const scenarios = compareScenarios(after.scenarios, before.scenarios).map((row) => ({
    ...row,
    chance: chanceOf(
      before.scenarios.find(({ scenario_id: id }) => id === row.scenario_id),
      after.scenarios.find(({ scenario_id: id }) => id === row.scenario_id),
    ),
  }));
  const pairs: TranscriptPair[] = [];
  for (const { scenario_id: scenarioId, change } of scenarios) {
    if (pairs.length >= PAIRS_MAX || (change !== 'regressed' && change !== 'worse')) break;
    const pair = await findPair(deps.store, { before: before.ref, after: after.ref, scenarioId });
    if (pair) pairs.push(pair);
  }
  const { kind } = before.ref;
  const evals =
    kind === 'simulation' ? [] : compareEvals(before.details.evals, after.details.evals);
  return { kind, before, after, scenarios, evals, pairs };
}

async function loadSide(
  { store, simulations }: ComparisonOptions,
  { ref, details }: { ref: RunRef; details: RunDetails },
): Promise<Side> {
  const watched =
    ref.kind === 'simulation' ? await simulations.watch(ref.ownerId, ref.id) : undefined;
  return {
    ...{ ref, details },
    plan: watched?.plan,
    scenarios: watched?.scenarios ?? summarizeCounts(details.scenarios),
    traits: await store.runs.readTraits(ref, TRAIT_SESSIONS_MAX),
    neighbors: await store.runs.findNeighbors(ref),
  };
}

function compareEvals(before: readonly EvalCounts[], after: readonly EvalCounts[]): ComparedEval[] {
  const [earlierById, laterById] = [before, after].map(
    (evals) => new Map(evals.map((counts) => [counts.id, counts])),
  );
  // An eval may have been renamed between the runs.
  const namesById = new Map([...before, ...after].map(({ id, name }) => [id, name]));
  return Array.from(namesById, ([id, name]) => {
    const [earlier, later] = [earlierById?.get(id), laterById?.get(id)];
    return { id, name, before: earlier, after: later, chance: chanceOf(earlier, later) };
  });
}

function chanceOf(before: Counts | undefined, after: Counts | undefined): number | undefined {
  const isJudged = (counts: Counts | undefined): counts is Counts =>
    counts !== undefined && counts.passed + counts.failed > 0;
  return isJudged(before) && isJudged(after) ? computeChance(before, after) : undefined;
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
    const sample = Number(session.simulated?.['sample'] ?? 1);
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
