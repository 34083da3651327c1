import type {
  ScenarioResult,
  SimulatedSessionReport,
  SimulationReport,
  SimulationVerdict,
} from '../../../contract/index.ts';
import { isoTime } from '../../../shared/clock.ts';
import type { Casting } from '../session-plan.ts';
import { scenarioResults, verdictOfRun } from './scenario-results.ts';

/** What a run consists of when it is over. */
export interface RunFigures {
  castings: readonly Casting[];
  sessions: SimulatedSessionReport[];
  sandbox: string;
  seed: string;
  kitVersion: string;
  startedAtMs: number;
  endedAtMs: number;
}

const exitCodes = { passed: 0, failed: 1, undecided: 3 } as const;

/** The report of a run. */
export function reportOf(figures: RunFigures): SimulationReport {
  const { castings, sessions, sandbox, seed, kitVersion } = figures;
  const scenarios = scenarioResults(castings, sessions);
  const verdict = verdictOfRun(scenarios);
  const count = (which: SimulationVerdict): number =>
    sessions.filter((session) => session.verdict === which).length;
  return {
    verdict,
    exitCode: exitCodes[verdict],
    sentence: sentenceOf(scenarios),
    ...{ kitVersion, sandbox, seed },
    startedAt: isoTime(figures.startedAtMs),
    endedAt: isoTime(figures.endedAtMs),
    counts: {
      sessions: sessions.length,
      passed: count('passed'),
      failed: count('failed'),
      undecided: count('undecided'),
      strayed: sessions.filter(({ review }) => !review.kept).length,
    },
    scenarios,
    sessions,
  };
}

function sentenceOf(scenarios: readonly ScenarioResult[]): string {
  const count = (which: SimulationVerdict): number =>
    scenarios.filter(({ verdict }) => verdict === which).length;
  const [passed, failed, undecided] = [count('passed'), count('failed'), count('undecided')];
  const flaky = scenarios.filter((one) => one.flaky).length;
  const others = [
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(undecided > 0 ? [`${undecided} undecided`] : []),
    ...(flaky > 0 ? [`${flaky} flaky`] : []),
  ];
  return `${[`${passed} of ${scenarios.length} scenarios passed`, ...others].join(', ')}.`;
}
