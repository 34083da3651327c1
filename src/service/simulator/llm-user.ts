import { seededRandom } from '../../platform/random.ts';
import { holds } from './conditions.ts';
import { takesLeave } from './farewell.ts';
import type { SessionPlan } from './session-plan.ts';
import type { SimulatedUser } from './simulated-user.ts';
import type { UserModel } from './user-model.ts';
import { userPrompt, type Exchange } from './user-prompt.ts';

/** How often in a row the agent may take leave before the user goes, and no model is asked more. */
const leavesMax = 2;

/** A language model plays the user. An opening is said as it stands; stop_when needs no model. */
export function llmUser(plan: SessionPlan, model: UserModel): SimulatedUser {
  const { scenario } = plan;
  const chance = seededRandom(plan.sessionId).fork('user');
  const exchanges: Exchange[] = [];
  let line = '';
  let leaves = 0;
  return {
    async next(heard, signal) {
      if (heard) exchanges.push({ user: line, agent: heard.content });
      const { opening, stop_when: stops = [] } = scenario.user;
      if (line === '' && opening !== undefined) {
        line = opening;
        return { does: 'say', line, reason: 'opens the conversation' };
      }
      if (heard && line !== '') {
        for (const condition of stops) {
          if (await holds(condition, heard, signal)) {
            return { does: 'end', reason: 'goal_achieved' };
          }
        }
        leaves = takesLeave(heard.content) ? leaves + 1 : 0;
        if (leaves >= leavesMax) return { does: 'end', reason: 'agent_ended' };
      }
      const move = await model.move(userPrompt(plan, exchanges, chance), signal);
      if (move.does === 'say') line = move.line;
      return move;
    },
  };
}
