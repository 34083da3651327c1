import type { ReadinessScenario, ScenarioResult } from '../../contract/index.ts';
import { formatCount } from '../../report-kit/format.ts';
import { isSameUrl } from '../../platform/base-url.ts';
import { explainSession, type ExplainedSession } from '../runs/reasons.ts';
import { summarizeCounts } from '../runs/scenario-results.ts';
import type { SimulationOfAgent, Store, StoredAgent, TestedBuild } from '../store/store.ts';
import type { ReadinessDeps, ReadinessPart } from './readiness-part.ts';

/** How many of the newest simulations of an agent are judged. */
export const JUDGED_SIMULATIONS_MAX = 50;

/** How many scenarios, and sessions of each, are read to find out why they did not pass. */
export const UNPASSED_MAX = { scenarios: 20, sessions: 20 };

/** The newest result of a scenario, and its run. */
interface NewestResult {
  run: SimulationOfAgent;
  build: TestedBuild;
  result: ScenarioResult;
  isRunning: boolean;
  isCanceled: boolean;
}

/**
 * Judges the newest result of each scenario that ran with the URL of an agent, so that a run of one easy
 * scenario does not hide a failed run of others. The simulations are ordered newest first.
 */
export async function judgeSimulations(
  deps: ReadinessDeps,
  ownerId: string,
  { url }: StoredAgent,
  simulations: readonly SimulationOfAgent[],
): Promise<ReadinessPart> {
  const part = { id: 'simulations', name: 'Simulations', standing: 'warn' } as const;
  const ofUrl = simulations.filter(({ agentUrl }) => isSameUrl(agentUrl, url));
  const [newest] = simulations;
  if (!newest) return { ...part, verdict: 'None yet', detail: 'No simulation has ended.' };
  if (ofUrl.length === 0) {
    const ranWith = newest.agentUrl === '' ? 'an agent without a URL' : newest.agentUrl;
    const detail = `The simulations ran with ${ranWith}, not with the URL of this agent.`;
    return { ...part, verdict: 'Run for another URL', detail, run: newest };
  }
  const found = await findNewestResults(deps, ownerId, ofUrl);
  const ends = found.map(({ run }) => run.newestEndMs ?? run.newestStartMs ?? 0);
  const run = found.find(({ result }) => result.verdict === 'failed')?.run ?? found[0]?.run;
  const scenarios = found.map(({ run: { id }, result }) => ({
    scenario_id: result.scenario_id,
    run_id: id,
    verdict: result.verdict,
    passed: result.passed,
    samples: result.samples,
  }));
  const builds = found.map(({ build }, index) => ({ ...build, atMs: ends[index] ?? 0 }));
  const shown = { ...part, scenarios, builds, atMs: Math.min(...ends), ...(run && { run }) };
  const count = (verdict: ScenarioResult['verdict']): number =>
    found.filter(({ result }) => result.verdict === verdict).length;
  const [passed, failed] = [count('passed'), count('failed')];
  const all = formatCount(found.length, 'scenario');
  const verdict = `${passed} of ${all} passed`;
  const newestRun = `in ${found.length === 1 ? 'its' : 'their'} newest run`;
  const stopped = await explainStop(deps, ownerId, found);
  if (stopped !== undefined) {
    return { ...shown, standing: 'fail', verdict: 'All sessions stopped', detail: stopped };
  }
  if (failed > 0) {
    const detail = `${all}, ${failed} failed ${newestRun}.`;
    return { ...shown, standing: 'fail', verdict, detail };
  }
  const running = found.find(({ isRunning }) => isRunning);
  if (running) {
    const detail = `${running.run.name} is running.`;
    return { ...shown, verdict: 'Running', detail, run: running.run };
  }
  if (passed < found.length) {
    const detail = `${all}, ${found.length - passed} not judged ${newestRun}.`;
    return { ...shown, verdict, detail };
  }
  return { ...shown, standing: 'pass', verdict, detail: `${all}, none failed ${newestRun}.` };
}

/**
 * Returns the newest result of each scenario, those of the newest runs first. A canceled run that decided
 * nothing about a scenario does not replace an earlier result.
 */
async function findNewestResults(
  { simulations }: ReadinessDeps,
  ownerId: string,
  runs: readonly SimulationOfAgent[],
): Promise<NewestResult[]> {
  const found = new Map<string, NewestResult>();
  for (const run of runs) {
    const isNeeded = ({ scenarioId }: { scenarioId: string }): boolean => {
      const result = found.get(scenarioId);
      return !result || judgesNothing(result);
    };
    if (!run.scenarios.some(isNeeded)) continue;
    // A scenario of which no session ended is not in the counts.
    const counted = new Set(run.scenarios.map(({ scenarioId }) => scenarioId));
    const watched = await simulations.watch(ownerId, run.id);
    const { status, plan } = watched ?? {};
    const isRunning = status === 'running' || status === 'evaluating';
    const rest = { run, build: plan?.build ?? {}, isRunning, isCanceled: status === 'canceled' };
    for (const result of watched?.scenarios ?? summarizeCounts(run.scenarios)) {
      const { scenario_id: scenarioId } = result;
      const newest = found.get(scenarioId);
      const added = { ...rest, result };
      if (!counted.has(scenarioId)) continue;
      if (!newest || (judgesNothing(newest) && !judgesNothing(added))) found.set(scenarioId, added);
    }
  }
  return [...found.values()];
}

const judgesNothing = ({ isCanceled, result }: NewestResult): boolean =>
  isCanceled && result.verdict === 'undecided';

/** Returns why sessions of a scenario in a run did not pass. */
export async function explainUnpassed(
  { runs }: Pick<Store, 'runs'>,
  ownerId: string,
  { run_id: id, scenario_id: scenarioId }: Pick<ReadinessScenario, 'run_id' | 'scenario_id'>,
): Promise<ExplainedSession[]> {
  const ref = { ownerId, kind: 'simulation', id, scenarioId } as const;
  const sessions = await runs.listSamples(ref, ['failed', 'undecided'], UNPASSED_MAX.sessions);
  return sessions.map(explainSession);
}

/** Returns why all sessions stopped, if the sandbox let none of them end. */
async function explainStop(
  { store }: ReadinessDeps,
  ownerId: string,
  found: readonly NewestResult[],
): Promise<string | undefined> {
  if (found.some(({ result, isRunning }) => result.passed > 0 || isRunning)) return undefined;
  const read = found
    .slice(0, UNPASSED_MAX.scenarios)
    .map(({ run, result: { scenario_id } }) =>
      explainUnpassed(store, ownerId, { run_id: run.id, scenario_id }),
    );
  const sessions = (await Promise.all(read)).flat();
  const reasons = sessions.flatMap(({ status, end_reason: reason, error }) =>
    status === 'failed' && reason !== 'simulator_error' && error !== undefined ? [error] : [],
  );
  if (reasons.length === 0 || reasons.length < sessions.length) return undefined;
  const groups = [...Map.groupBy(reasons, (reason) => reason)];
  const [[reason]] = groups.sort(([, left], [, right]) => right.length - left.length) as [
    [string, string[]],
  ];
  const total = found.reduce((sum, { result }) => sum + result.samples, 0);
  const which =
    sessions.length < total
      ? `The first ${sessions.length} of ${formatCount(total, 'session')}`
      : `All ${formatCount(total, 'session')}`;
  return `${total === 1 ? 'The only session' : which} stopped${groups.length > 1 ? ', most often' : ''}: ${reason}`;
}
