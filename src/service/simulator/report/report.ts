import type {
  ScenarioResult,
  SimulatedSessionReport,
  SimulationBlocker,
  SimulationReport,
  SimulationVerdict,
} from '../../../contract/index.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { ResolvedScenario } from '../../domain/resolved-scenario.ts';
import { scenarioResults, decideRunVerdict } from './scenario-results.ts';

/** The results of a run. */
export interface RunResults {
  castings: readonly ResolvedScenario[];
  sessions: SimulatedSessionReport[];
  /** Why there are no sessions. */
  blockedBy: SimulationBlocker | undefined;
  sandbox: string;
  seed: string;
  kitVersion: string;
  startedAtMs: number;
  endedAtMs: number;
}

const exitCodes = { passed: 0, failed: 1, undecided: 3 } as const;

/** Builds the report of a run. */
export function buildReport(results: RunResults): SimulationReport {
  const { castings, sessions, sandbox, seed, blockedBy, kitVersion } = results;
  const scenarios = scenarioResults(castings, sessions);
  const verdict = decideRunVerdict(scenarios);
  const count = (which: SimulationVerdict): number =>
    sessions.filter((session) => session.verdict === which).length;
  return {
    verdict,
    exitCode: exitCodes[verdict],
    sentence: blockedBy ? `Not judged: ${blockedBy.message}` : summarize(scenarios, sessions),
    ...{ kitVersion, sandbox, seed },
    ...(blockedBy && { blockedBy }),
    startedAt: isoTime(results.startedAtMs),
    endedAt: isoTime(results.endedAtMs),
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

function summarize(
  scenarios: readonly ScenarioResult[],
  sessions: readonly SimulatedSessionReport[],
): string {
  const count = (which: SimulationVerdict): number =>
    scenarios.filter(({ verdict }) => verdict === which).length;
  const [passed, failed, undecided] = [count('passed'), count('failed'), count('undecided')];
  const flaky = scenarios.filter((scenario) => scenario.flaky).length;
  const others = [
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(undecided > 0 ? [`${undecided} undecided`] : []),
    ...(flaky > 0 ? [`${flaky} flaky`] : []),
  ];
  const total = `${scenarios.length} scenario${scenarios.length === 1 ? '' : 's'}`;
  const cancelled = sessions.filter(({ status }) => status === 'cancelled').length;
  const ends =
    cancelled === 0 ? [] : [`${cancelled} of ${sessions.length} sessions were cancelled`];
  return `${[[`${passed} of ${total} passed`, ...others].join(', '), ...ends].join('; ')}.`;
}
