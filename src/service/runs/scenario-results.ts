import type { ScenarioResult, SimulationVerdict } from '../../contract/index.ts';
import { versionOf } from '../evals/eval-version.ts';
import { applyScenarioDefaults } from '../scenarios/complete-scenario.ts';
import type { ResolvedScenario } from '../scenarios/resolved-scenario.ts';
import { roundTo } from '../../platform/round.ts';

/** The part of a session that the result of its scenario needs. */
export interface JudgedSession {
  scenario_id: string;
  verdict: SimulationVerdict;
}

/** Verdicts, most urgent first. */
export const VERDICTS_BY_URGENCY = ['failed', 'undecided', 'passed'] as const;

/** Returns sessions or scenarios with the most urgent verdicts first. */
export const sortByUrgency = <Judged extends { verdict: SimulationVerdict }>(
  judged: readonly Judged[],
): Judged[] =>
  [...judged].sort(
    (left, right) =>
      VERDICTS_BY_URGENCY.indexOf(left.verdict) - VERDICTS_BY_URGENCY.indexOf(right.verdict),
  );

/** The largest k for which pass^k is reported. */
const PASS_HAT_K_MAX = 10;

/** How many samples of a scenario have each verdict. */
export type SampleCounts = Readonly<Record<SimulationVerdict, number>>;

/** The part of a scenario that its result needs. */
export interface JudgedScenario {
  id: string;
  name: string;
  personaName: string;
  requiredRate: number;
  /** Undefined if they are unknown. */
  evals?: ScenarioResult['evals'];
}

/** Returns the result of each scenario over its samples, in the order of the scenarios. */
export function summarizeScenarios(
  scenarios: readonly ResolvedScenario[],
  sessions: readonly JudgedSession[],
): ScenarioResult[] {
  const byScenario = Map.groupBy(sessions, (session) => session.scenario_id);
  return scenarios.map((resolved) => {
    const samples = byScenario.get(resolved.scenario.id) ?? [];
    const count = (verdict: SimulationVerdict): number =>
      samples.filter((session) => session.verdict === verdict).length;
    const [passed, failed, undecided] = [count('passed'), count('failed'), count('undecided')];
    return summarizeScenario(toJudgedScenario(resolved), { passed, failed, undecided });
  });
}

/** Returns the part of a scenario that its result needs. */
export const toJudgedScenario = ({
  scenario,
  persona,
  evals,
}: ResolvedScenario): JudgedScenario => ({
  id: scenario.id,
  name: scenario.name,
  personaName: persona.name,
  requiredRate: applyScenarioDefaults(scenario).pass_rate,
  evals: evals.map((definition) => ({
    id: definition.id,
    version: versionOf(definition),
    required: definition.required ?? true,
  })),
});

/** Returns the results of a run whose plan is unknown: every sample of a scenario has to pass. */
export const summarizeCounts = (
  scenarios: readonly (SampleCounts & { scenarioId: string })[],
): ScenarioResult[] =>
  scenarios.map(({ scenarioId, ...counts }) =>
    summarizeScenario(
      { id: scenarioId, name: scenarioId, personaName: '', requiredRate: 1 },
      counts,
    ),
  );

/** Returns the result of a scenario with these numbers of samples per verdict. */
export function summarizeScenario(
  { id, name, personaName, requiredRate, evals }: JudgedScenario,
  { passed, failed, undecided }: SampleCounts,
): ScenarioResult {
  const judged = passed + failed;
  return {
    scenario_id: id,
    scenario: name,
    persona: personaName,
    samples: passed + failed + undecided,
    passed,
    failed,
    undecided,
    pass_rate: judged === 0 ? null : passed / judged,
    required_pass_rate: requiredRate,
    pass_hat_k: computePassHat(passed, judged),
    ...(evals && { evals }),
    flaky: passed > 0 && failed > 0,
    verdict: decideScenarioVerdict({ passed, failed, undecided }, requiredRate),
  };
}

/**
 * Decides the verdict of a scenario, unless its undecided samples could change it. A crash of the sandbox
 * or of the kit counts as neither a failed nor a passed sample.
 */
function decideScenarioVerdict(
  { passed, failed, undecided }: SampleCounts,
  requiredRate: number,
): SimulationVerdict {
  // The tolerance keeps floating-point error in 0.7 * 10 from requiring an eighth sample.
  const required = Math.ceil(requiredRate * (passed + failed + undecided) - 1e-9);
  if (passed + undecided < required) return 'failed';
  return passed >= required && passed + failed > 0 ? 'passed' : 'undecided';
}

/** Returns pass^k for k = 1, 2, …: the probability that k samples drawn without replacement passed. */
function computePassHat(passed: number, judged: number): number[] {
  const probabilities: number[] = [];
  let probability = 1;
  for (let k = 0; k < Math.min(judged, PASS_HAT_K_MAX); k += 1) {
    probability *= Math.max(0, passed - k) / (judged - k);
    probabilities.push(roundTo(probability, 6));
  }
  return probabilities;
}

/** How reports and pages name the verdict of a run. Of a session or a scenario, it is "undecided". */
export const RUN_VERDICT_WORDS: Readonly<Record<SimulationVerdict, string>> = {
  passed: 'Passed',
  failed: 'Failed',
  undecided: 'Not judged',
};

/** Decides the verdict of a run: failed if a scenario failed, passed if all scenarios passed. */
export function decideRunVerdict(scenarios: readonly ScenarioResult[]): SimulationVerdict {
  if (scenarios.some(({ verdict }) => verdict === 'failed')) return 'failed';
  const isPassed = scenarios.length > 0 && scenarios.every(({ verdict }) => verdict === 'passed');
  return isPassed ? 'passed' : 'undecided';
}

/** Says in a sentence how many scenarios passed. */
export function describeScenarios(scenarios: readonly ScenarioResult[]): string {
  const count = (verdictToCount: SimulationVerdict): number =>
    scenarios.filter(({ verdict }) => verdict === verdictToCount).length;
  const [passed, failed, undecided] = [count('passed'), count('failed'), count('undecided')];
  const total = `${scenarios.length} scenario${scenarios.length === 1 ? '' : 's'}`;
  const flaky = scenarios.filter((scenario) => scenario.flaky).length;
  return [
    `${passed} of ${total} passed`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(undecided > 0 ? [`${undecided} undecided`] : []),
    ...(flaky > 0 ? [`${flaky} flaky`] : []),
  ].join(', ');
}
