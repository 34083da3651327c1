import type { Scenario } from '../../../src/contract/index.ts';

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
      id,
      channel: 'voice',
      evals: [{ id: 'e', name: 'E', kind: 'max_turns', params: { max: 99 } }],
      ...more,
    },
  );
