import { formatCount, formatNumber } from '../../../report-kit/format.ts';
import type {
  ScenarioResult,
  SimulatedSessionReport,
  SimulationReport,
} from '../../../contract/index.ts';
import { msBetween } from '../../../platform/clock.ts';
import { junitXml, type TestCase } from '../../../report-kit/junit.ts';
import {
  changeNames,
  describeEvidence,
  describeStanding,
} from '../../runs/comparison/scenario-changes.ts';
import { summarizeTurnTaking } from '../../../voice/turn-taking/summarize.ts';
import { listRunHeard, summarizeHeard } from '../../runs/heard-facts.ts';
import { listRunTurnTaking, measuredCalls } from '../../runs/turn-taking-facts.ts';
import { groupAlike, listSharedReasons } from '../../runs/reasons.ts';
import { listChanges, shortHeading } from './comparison.ts';
import { formatTranscript } from './transcript.ts';

/**
 * Formats the report as JUnit XML with one test case per scenario. A failed scenario is a `failure`. An
 * undecided scenario is an `error`, so that CI is never green when the exit code is not 0.
 */
export function junitReport(report: SimulationReport): string {
  const { scenarios, sessions, blockedBy, startedAt } = report;
  const cases = scenarios.map((scenario) =>
    toTestCase(
      scenario,
      sessions.filter((session) => session.scenario_id === scenario.scenario_id),
      blockedBy && `${blockedBy.message} ${blockedBy.cure}`,
    ),
  );
  const emptyRun: TestCase = {
    classname: 'simulate',
    name: 'run',
    outcome: { kind: 'error', message: 'The run has no sessions.' },
  };
  const suite = {
    name: 'simulate',
    timestamp: startedAt,
    cases: [...(cases.length > 0 ? cases : [emptyRun]), ...comparisonCases(report)],
  };
  return junitXml('sandbox-kit simulate', [suite]);
}

/** A comparison never fails the run, so its case always passes. */
function comparisonCases({ comparison }: SimulationReport): TestCase[] {
  if (!comparison) return [];
  const { changed } = listChanges(comparison);
  const lines = changed.map((row) => {
    const { scenario_id: id, change, before, now } = row;
    const results = `${describeStanding(before)} -> ${describeStanding(now)}`;
    return [`${changeNames[change]}: ${id}`, results, describeEvidence(row)].join('  ').trimEnd();
  });
  const { sentence, differences } = comparison;
  return [
    {
      classname: 'simulate.comparison',
      name: shortHeading(comparison),
      output: [sentence, ...differences, ...lines].join('\n'),
    },
  ];
}

function toTestCase(
  scenario: ScenarioResult,
  sessions: readonly SimulatedSessionReport[],
  blocker: string | undefined,
): TestCase {
  const { verdict, passed, samples, flaky } = scenario;
  // Separate names, so that CI shows chat runs and voice runs of a scenario as two tests.
  const prefix = sessions[0]?.channel === 'voice' ? 'simulate.voice' : 'simulate';
  const reasons = groupAlike(sessions).flatMap((group) => {
    const [first, ...others] = group;
    const more = others.length > 0 ? ` and ${formatNumber(others.length)} more` : '';
    if (!first) return [];
    const traceId = first.verdict === 'passed' ? undefined : first.trace_ids?.at(-1);
    const trace = traceId === undefined ? [] : [`trace id of the last request ${traceId}.`];
    return [...listSharedReasons(group), ...trace].map(
      (reason) => `sample ${first.sample} (${first.id})${more}: ${reason}`,
    );
  });
  const isTranscribed = sessions.some(({ heard }) => heard !== undefined);
  const measured = [
    ...listRunTurnTaking(summarizeTurnTaking(measuredCalls(sessions))),
    ...(isTranscribed ? listRunHeard(summarizeHeard(sessions, true), sessions) : []),
  ].map(([name, figure]) => `${name}: ${figure}`);
  const summary = `${passed} of ${formatCount(samples, 'sample')} passed${flaky ? ', flaky' : ''}.`;
  const message = blocker ?? [summary, ...reasons].join(' ');
  return {
    classname: `${prefix}.${scenario.scenario_id}`,
    name: scenario.scenario,
    durationMs: sessions.reduce(
      (sum, { started_at: from, ended_at: to }) => sum + msBetween(from, to),
      0,
    ),
    ...(verdict === 'passed'
      ? { output: [message, ...measured].join('\n') }
      : {
          outcome: { kind: verdict === 'failed' ? 'failure' : 'error', message },
          output: [...measured, ...formatFailedTranscript(sessions)].join('\n') || undefined,
        }),
  };
}

/** Returns the transcript of the first sample that failed. */
function formatFailedTranscript(sessions: readonly SimulatedSessionReport[]): string[] {
  const first = sessions.find(({ verdict }) => verdict === 'failed');
  if (!first) return [];
  return [`Transcript of sample ${first.sample}:`, ...formatTranscript(first)];
}
