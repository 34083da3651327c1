import type { Test } from 'tap';
import {
  findViolations,
  type EndReason,
  type Scenario,
  type SimulatedSessionReport,
  type SimulationReport,
} from '../../src/contract/index.ts';
import { simulate, type SimulationSettings } from '../../src/service/index.ts';

/** Returns a valid scenario with one line and no evals. */
export function makeScenario(changes: Partial<Scenario> = {}): Scenario {
  return { id: 'a', name: 'A scenario', user: { opening: 'Hello' }, ...changes };
}

/** Returns a scenario with this user. */
export const makeUserScenario = (user: Scenario['user'], more: Partial<Scenario> = {}): Scenario =>
  makeScenario({ user, ...more });

/** Returns a voice scenario of a user with two lines, which passes. */
export const makeCallerScenario = (id: string, more: Partial<Scenario> = {}): Scenario =>
  makeUserScenario(
    { opening: 'Hi.', steps: [{ say: 'Yes.' }] },
    {
      ...{ id, channel: 'voice' },
      evals: [{ id: 'e', name: 'E', kind: 'max_turns', params: { max: 99 } }],
      ...more,
    },
  );

/** Returns the expected fields of a session that failed. */
export const failedSession = (end: EndReason, error: RegExp) => ({
  ...{ status: 'failed', end_reason: end, verdict: 'undecided', error, eval_outcomes: [] },
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
    ...{ personas: [], evals: [], seed: 'test', kitVersion: '0.0.0' },
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
