import type { Test } from 'tap';
import {
  findViolations,
  type EndReason,
  type Scenario,
  type SimulatedSessionReport,
  type SimulationReport,
} from '../../../src/contract/index.ts';
import { simulate, type SimulationSettings } from '../../../src/service/index.ts';

/** Returns the expected fields of a session that failed. */
export const failedSession = (end: EndReason, error: RegExp) => ({
  status: 'failed',
  end_reason: end,
  verdict: 'undecided',
  error,
  eval_outcomes: [],
});

/** Runs scenarios against a sandbox, and asserts that the report conforms. */
export async function simulateOn(
  t: Test,
  sandbox: string,
  scenarios: Scenario | readonly Scenario[],
  more: Partial<SimulationSettings> = {},
): Promise<SimulationReport> {
  const report = await simulate({
    sandbox,
    scenarios: [scenarios].flat(),
    personas: [],
    evals: [],
    seed: 'test',
    kitVersion: '0.0.0',
    ...more,
  });
  t.same(findViolations('SimulationReport', report), [], 'conforms to SimulationReport');
  return report;
}

/** Runs one scenario, and returns its only session. */
export async function simulateSession(
  t: Test,
  sandbox: string,
  scenario: Scenario,
  more: Partial<SimulationSettings> = {},
): Promise<SimulatedSessionReport> {
  const { sessions } = await simulateOn(t, sandbox, scenario, more);
  t.equal(sessions.length, 1);
  return sessions[0] as SimulatedSessionReport;
}

/** Returns the lines of the user. */
export const listUserLines = ({ traces }: SimulatedSessionReport): string[] =>
  traces.map((turn) => turn.user_input);

/** Returns a report as JSON without times: everything that the random seed determines. */
export function omitTimes(report: SimulationReport): string {
  return JSON.stringify(report, (key, value: unknown) =>
    /(_at|At|_ms)$/.test(key) ? undefined : value,
  );
}
