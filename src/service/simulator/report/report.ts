import type {
  EndReason,
  ScenarioResult,
  SimulatedSessionReport,
  SimulationBlocker,
  SimulationReport,
  SimulationVerdict,
} from '../../../contract/index.ts';
import { isoTime } from '../../../platform/clock.ts';
import { formatCount, formatList, formatNumber } from '../../../report-kit/format.ts';
import { summarizeTurnTaking } from '../../../voice/turn-taking/summarize.ts';
import type { ResolvedScenario } from '../../scenarios/resolved-scenario.ts';
import { isStopped } from '../../runs/reasons.ts';
import {
  decideRunVerdict,
  describeScenarios,
  summarizeScenarios,
} from '../../runs/scenario-results.ts';
import { summarizeHeard } from '../../runs/heard-facts.ts';
import { measuredCalls } from '../../runs/turn-taking-facts.ts';

/** The results of a simulation. */
export interface RunResults {
  scenarios: readonly ResolvedScenario[];
  sessions: SimulatedSessionReport[];
  /** Why there are no sessions. */
  blockedBy: SimulationBlocker | undefined;
  sandbox: string;
  seed: string;
  /** Whether the requests have an API key. */
  hasKey: boolean;
  /** Whether an endpoint transcribes what is heard in calls. */
  isTranscribed: boolean;
  kitVersion: string;
  startedAtMs: number;
  endedAtMs: number;
}

const EXIT_CODES = { passed: 0, failed: 1, undecided: 3 } as const;

/** Builds the report of a simulation. */
export function buildReport(results: RunResults): SimulationReport {
  const { sessions, sandbox, seed, hasKey, blockedBy, kitVersion } = results;
  const scenarios = summarizeScenarios(results.scenarios, sessions);
  const verdict = decideRunVerdict(scenarios);
  const turnTaking = summarizeTurnTaking(measuredCalls(sessions));
  const heard = summarizeHeard(sessions, results.isTranscribed);
  const count = (verdictToCount: SimulationVerdict): number =>
    sessions.filter((session) => session.verdict === verdictToCount).length;
  return {
    verdict,
    exitCode: EXIT_CODES[verdict],
    sentence: blockedBy ? blockedBy.message : summarize(scenarios, results),
    kitVersion,
    sandbox,
    seed,
    hasKey,
    ...(blockedBy && { blockedBy }),
    startedAt: isoTime(results.startedAtMs),
    endedAt: isoTime(results.endedAtMs),
    counts: {
      sessions: sessions.length,
      passed: count('passed'),
      failed: count('failed'),
      undecided: count('undecided'),
      deviated: sessions.filter(({ review }) => !review.followed_scenario).length,
    },
    scenarios,
    sessions,
    ...(turnTaking && { turn_taking: turnTaking }),
    ...(heard && { heard }),
  };
}

function summarize(
  scenarios: readonly ScenarioResult[],
  { sessions, sandbox }: Pick<RunResults, 'sessions' | 'sandbox'>,
): string {
  const canceled = sessions.filter(({ status }) => status === 'canceled').length;
  const judged = sessions.filter(({ verdict }) => verdict !== 'undecided').length;
  const share =
    canceled === 0
      ? ''
      : ` Judged ${formatNumber(judged)} of ${formatCount(sessions.length, 'session')}; ${formatNumber(canceled)} canceled.`;
  return `${describeScenarios(scenarios)}.${share}${describeSandboxErrors(sessions, sandbox)}`;
}

/** The end reasons that are up to the sandbox, in the words of the sentence about them. */
const sandboxErrors: Partial<Record<EndReason, string>> = {
  agent_error: 'an error of the agent',
  timeout: 'a timeout',
  infrastructure_error: 'a problem with the sandbox',
};

/** Points to `check` if the sandbox stopped sessions: it says what is wrong with each response. */
function describeSandboxErrors(
  sessions: readonly SimulatedSessionReport[],
  sandbox: string,
): string {
  const ran = sessions.filter(({ status }) => status !== 'canceled');
  const stopped = ran.filter(
    (session) => sandboxErrors[session.end_reason] !== undefined && isStopped(session),
  );
  if (stopped.length === 0) return '';
  const causes = new Set(stopped.map(({ end_reason: reason }) => sandboxErrors[reason] ?? ''));
  const all = ran.length === 1 ? 'The session' : 'Every session';
  const subject =
    stopped.length === ran.length
      ? all
      : `${formatNumber(stopped.length)} of ${formatCount(ran.length, 'session')}`;
  return ` ${subject} stopped because of ${formatList([...causes])}. Run sandbox-kit check ${sandbox} to find out why.`;
}
