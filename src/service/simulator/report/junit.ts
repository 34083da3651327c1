import type {
  ScenarioResult,
  SimulatedSessionReport,
  SimulationReport,
} from '../../../contract/index.ts';
import { instantMs } from '../../../platform/clock.ts';
import { xmlLines, xmlText } from '../../../report-kit/xml.ts';
import { alike, reasonsOf } from './reasons.ts';
import { transcriptText } from './transcript.ts';

/**
 * The report as JUnit XML: a test case a scenario. Failed is a `failure`, undecided an `error`: a run
 * that does not exit with 0 has one of them, and a crash is told apart from a failed eval.
 */
export function junitReport(report: SimulationReport): string {
  const { scenarios, sessions, startedAt } = report;
  const count = (verdict: string): number =>
    scenarios.filter((one) => one.verdict === verdict).length;
  const nothing = scenarios.length === 0 ? 1 : 0;
  const counts = `tests="${scenarios.length + nothing}" failures="${count('failed')}" errors="${count('undecided') + nothing}"`;
  const cases = scenarios.map((scenario) =>
    caseOf(
      scenario,
      sessions.filter((session) => session.scenario_id === scenario.scenario_id),
    ),
  );
  const none =
    '    <testcase classname="simulate" name="run"><error message="Nothing was simulated."/></testcase>';
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="sandbox-kit simulate" ${counts}>`,
    `  <testsuite name="simulate" timestamp="${startedAt}" ${counts}>`,
    ...(nothing ? [none] : cases),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function caseOf(scenario: ScenarioResult, sessions: readonly SimulatedSessionReport[]): string {
  const { verdict, passed, samples, flaky } = scenario;
  const took = sessions.reduce((sum, session) => sum + tookMs(session), 0);
  // One scenario by chat and by voice are two cases.
  const by = sessions[0]?.channel === 'voice' ? 'simulate.voice' : 'simulate';
  const name = `classname="${by}.${xmlText(scenario.scenario_id)}" name="${xmlText(scenario.scenario)}"`;
  const told = `${passed} of ${samples} samples passed${flaky ? ', flaky' : ''}`;
  const why = alike(sessions).flatMap(([first, ...others]) => {
    const more = others.length > 0 ? ` and ${others.length} more` : '';
    return first
      ? reasonsOf(first).map((one) => `sample ${first.sample} (${first.id})${more}: ${one}`)
      : [];
  });
  const text = xmlText([`${told}.`, ...why].join(' '));
  const inner =
    verdict === 'passed'
      ? `<system-out>${text}</system-out>`
      : `<${verdict === 'failed' ? 'failure' : 'error'} message="${text}"/>${saidIn(sessions)}`;
  return `    <testcase ${name} time="${(took / 1000).toFixed(3)}">\n      ${inner}\n    </testcase>`;
}

/** What was said in the first sample that failed. */
function saidIn(sessions: readonly SimulatedSessionReport[]): string {
  const first = sessions.find(({ verdict }) => verdict === 'failed');
  if (!first) return '';
  const said = [`What was said in sample ${first.sample}:`, ...transcriptText(first)];
  return `\n      <system-out>${xmlLines(said.join('\n'))}</system-out>`;
}

const tookMs = (session: SimulatedSessionReport): number =>
  (instantMs(session.ended_at) ?? 0) - (instantMs(session.started_at) ?? 0);
