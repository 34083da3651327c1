import type { Test } from 'tap';
import {
  findViolations,
  type EndReason,
  type Scenario,
  type SimulatedSessionReport,
  type SimulationReport,
} from '../../src/contract/index.ts';
import { simulate, type SimulateOptions } from '../../src/service/index.ts';

/** A scenario that is valid: one line, and nothing scores it. */
export function makeScenario(changes: Partial<Scenario> = {}): Scenario {
  return { id: 'a', name: 'A scenario', user: { opening: 'Hello' }, ...changes };
}

/** A scenario of a user. */
export const makeUserScenario = (user: Scenario['user'], more: Partial<Scenario> = {}): Scenario =>
  makeScenario({ user, ...more });

/** A scenario of a user who calls, has two lines and passes. */
export const makeCallerScenario = (id: string, more: Partial<Scenario> = {}): Scenario =>
  makeUserScenario(
    { opening: 'Hi.', steps: [{ say: 'Yes.' }] },
    {
      ...{ id, channel: 'voice' },
      evals: [{ id: 'e', name: 'E', kind: 'max_turns', params: { max: 99 } }],
      ...more,
    },
  );

/** What a session is like that could not be held. */
export const failedSession = (end: EndReason, error: RegExp): object => ({
  ...{ status: 'failed', end_reason: end, verdict: 'undecided', error, eval_outcomes: [] },
});

/** Runs scenarios against a sandbox, and insists that the report conforms. */
export async function simulateOn(
  t: Test,
  sandbox: string,
  scenarios: Scenario | readonly Scenario[],
  more: Partial<SimulateOptions> = {},
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

/** The only session of a run of one scenario. */
export async function simulateSession(
  t: Test,
  sandbox: string,
  scenario: Scenario,
  more: Partial<SimulateOptions> = {},
): Promise<SimulatedSessionReport> {
  const { sessions } = await simulateOn(t, sandbox, scenario, more);
  t.equal(sessions.length, 1);
  return sessions[0] as SimulatedSessionReport;
}

/** What the user said, line by line. */
export const listUserLines = ({ traces }: SimulatedSessionReport): string[] =>
  traces.map((turn) => turn.user_input);

/** A report without its times: all that a seed decides. */
export function omitTimes(report: SimulationReport): string {
  return JSON.stringify(report, (key, value: unknown) =>
    /(_at|At|_ms)$/.test(key) ? undefined : value,
  );
}
