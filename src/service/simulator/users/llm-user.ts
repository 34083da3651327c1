import { seededRandom } from '../../../platform/random.ts';
import { patienceOf } from '../../scenarios/complete-scenario.ts';
import { isFarewell, meetsAny } from './reply-conditions.ts';
import type { SessionPlan } from '../session-plan.ts';
import { FAREWELLS_MAX, type SimulatedUser } from './simulated-user.ts';
import type { UserModel } from './user-model.ts';
import { buildUserPrompt, type Exchange } from './user-prompt.ts';

/**
 * Creates a user that a language model plays. The opening is said as written, and stop_when is checked
 * without the model. A user leaves an agent that keeps saying the same thing, even if the model goes on.
 */
export function createLlmUser(plan: SessionPlan, model: UserModel): SimulatedUser {
  const { scenario, persona } = plan;
  const random = seededRandom(plan.sessionId).fork('user');
  const exchanges: Exchange[] = [];
  let line = '';
  let farewells = 0;
  let repeats = 0;
  return {
    async next(agentMessage, signal) {
      const isRepeated = agentMessage && agentMessage.content === exchanges.at(-1)?.agent;
      repeats = isRepeated ? repeats + 1 : 0;
      if (repeats >= patienceOf(persona)) return { does: 'end', reason: 'user_stop' };
      if (agentMessage) exchanges.push({ user: line, agent: agentMessage.content });
      const { opening, opening_delivery: delivery } = scenario.user;
      if (line === '' && opening !== undefined) {
        line = opening;
        return { does: 'say', line, reason: 'opens the conversation', delivery };
      }
      if (agentMessage && line !== '') {
        if (await meetsAny(scenario.user.stop_when, agentMessage, signal)) {
          return { does: 'end', reason: 'goal_achieved' };
        }
        farewells = isFarewell(agentMessage.content) ? farewells + 1 : 0;
        if (farewells >= FAREWELLS_MAX) return { does: 'end', reason: 'agent_ended' };
      }
      const move = await model.move(buildUserPrompt(plan, exchanges, random), signal);
      if (move.does === 'say') line = move.line;
      return move;
    },
  };
}
