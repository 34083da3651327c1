import type {
  ScenarioResult,
  SimulatedSessionReport,
  SimulationReport,
} from '../../../contract/index.ts';
import { instantMs } from '../../../platform/clock.ts';
import { junitXml, type TestCase } from '../../../report-kit/junit.ts';
import { groupAlike, sessionReasons } from './reasons.ts';
import { transcriptText } from './transcript.ts';

/**
 * Writes the report as JUnit XML, with a test case per scenario. A failed scenario is a `failure`, an
 * undecided one an `error`, so that a run with a nonzero exit code is never green and a crash differs from
 * a failed eval.
 */
export function junitReport(report: SimulationReport): string {
  const { scenarios, sessions, blockedBy, startedAt } = report;
  const cases = scenarios.map((scenario) =>
    caseOf(
      scenario,
      sessions.filter((session) => session.scenario_id === scenario.scenario_id),
      blockedBy && `${blockedBy.message} ${blockedBy.cure}`,
    ),
  );
  const empty: TestCase = {
    classname: 'simulate',
    name: 'run',
    outcome: { kind: 'error', message: 'The run simulated no session.' },
  };
  const suite = {
    name: 'simulate',
    timestamp: startedAt,
    cases: cases.length > 0 ? cases : [empty],
  };
  return junitXml('sandbox-kit simulate', [suite]);
}

function caseOf(
  scenario: ScenarioResult,
  sessions: readonly SimulatedSessionReport[],
  blocker: string | undefined,
): TestCase {
  const { verdict, passed, samples, flaky } = scenario;
  // A scenario that runs by chat and by voice gives two cases.
  const prefix = sessions[0]?.channel === 'voice' ? 'simulate.voice' : 'simulate';
  const reasons = groupAlike(sessions).flatMap(([first, ...others]) => {
    const more = others.length > 0 ? ` and ${others.length} more` : '';
    return first
      ? sessionReasons(first).map(
          (reason) => `sample ${first.sample} (${first.id})${more}: ${reason}`,
        )
      : [];
  });
  const summary = `${passed} of ${samples} samples passed${flaky ? ', flaky' : ''}.`;
  const message = blocker ?? [summary, ...reasons].join(' ');
  return {
    classname: `${prefix}.${scenario.scenario_id}`,
    name: scenario.scenario,
    durationMs: sessions.reduce((sum, session) => sum + durationMs(session), 0),
    ...(verdict === 'passed'
      ? { output: message }
      : {
          outcome: { kind: verdict === 'failed' ? 'failure' : 'error', message },
          output: failedTranscript(sessions),
        }),
  };
}

/** Returns the transcript of the first sample that failed. */
function failedTranscript(sessions: readonly SimulatedSessionReport[]): string | undefined {
  const first = sessions.find(({ verdict }) => verdict === 'failed');
  if (!first) return undefined;
  return [`Transcript of sample ${first.sample}:`, ...transcriptText(first)].join('\n');
}

const durationMs = (session: SimulatedSessionReport): number =>
  (instantMs(session.ended_at) ?? 0) - (instantMs(session.started_at) ?? 0);
