import type { Scenario } from '../../contract/index.ts';
import type { SimulatedUser } from './simulated-user.ts';

/** Says the opening and the steps one after the other, whatever the agent says. */
export function scriptedUser({ user }: Scenario): SimulatedUser {
  const { opening = '', steps = [] } = user;
  const lines = [
    { say: opening, reason: 'opens the conversation' },
    ...steps.map(({ say, reason }, nth) => ({
      say,
      reason: reason ?? `says line ${nth + 2} of ${steps.length + 1}`,
    })),
  ];
  let said = 0;
  return {
    next() {
      const line = lines[said];
      if (!line) return Promise.resolve({ does: 'end', reason: 'goal_achieved' });
      said += 1;
      return Promise.resolve({ does: 'say', line: line.say, reason: line.reason });
    },
  };
}
