import type {
  ScenarioResult,
  SimulatedSessionReport,
  SimulationReport,
  SimulationVerdict,
} from '../../../contract/index.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { ResolvedScenario } from '../../domain/resolved-scenario.ts';
import { scenarioResults, verdictOfRun } from './scenario-results.ts';

/** What a run consists of when it is over. */
export interface RunFigures {
  castings: readonly ResolvedScenario[];
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
    sentence: sentenceOf(scenarios, sessions),
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

function sentenceOf(
  scenarios: readonly ScenarioResult[],
  sessions: readonly SimulatedSessionReport[],
): string {
  const count = (which: SimulationVerdict): number =>
    scenarios.filter(({ verdict }) => verdict === which).length;
  const [passed, failed, undecided] = [count('passed'), count('failed'), count('undecided')];
  const flaky = scenarios.filter((one) => one.flaky).length;
  const others = [
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(undecided > 0 ? [`${undecided} undecided`] : []),
    ...(flaky > 0 ? [`${flaky} flaky`] : []),
  ];
  const all = `${scenarios.length} scenario${scenarios.length === 1 ? '' : 's'}`;
  const cancelled = sessions.filter(({ status }) => status === 'cancelled').length;
  const ends =
    cancelled === 0 ? [] : [`${cancelled} of ${sessions.length} sessions were cancelled`];
  return `${[[`${passed} of ${all} passed`, ...others].join(', '), ...ends].join('; ')}.`;
}
