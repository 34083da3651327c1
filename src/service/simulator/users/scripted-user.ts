import type { CompleteScenario } from '../../scenarios/complete-scenario.ts';
import { deliveryOf } from '../calls/delivery.ts';
import type { SimulatedUser } from './simulated-user.ts';

/** Creates a user that says the opening and then each step in order, regardless of the replies. */
export function createScriptedUser({ user }: CompleteScenario): SimulatedUser {
  const { opening = '', opening_delivery: delivery, steps } = user;
  const lines = [
    { say: opening, delivery, reason: 'opens the conversation' },
    ...steps.map(({ say, reason, ...step }, index) => ({
      say,
      delivery: deliveryOf(step),
      reason: reason ?? `says line ${index + 2} of ${steps.length + 1}`,
    })),
  ];
  let position = 0;
  return {
    next() {
      const line = lines[position];
      if (!line) return Promise.resolve({ does: 'end', reason: 'goal_achieved' });
      position += 1;
      const { say, reason, delivery } = line;
      const place = { scenarioLine: position, linesLeft: lines.length - position };
      return Promise.resolve({ does: 'say', line: say, reason, delivery, ...place });
    },
  };
}
