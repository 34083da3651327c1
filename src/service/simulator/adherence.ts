import type { EndReason, Deviation, UserAdherence } from '../../contract/index.ts';
import { formatCount } from '../../report-kit/format.ts';
import { listCountedTurns } from '../sessions/scored-session.ts';
import type { CompleteScenario } from '../scenarios/complete-scenario.ts';
import { asksForFact, containsText, meetsCondition, stateFact } from './users/reply-conditions.ts';
import type { SimulatedTurn } from '../turns/turn-types.ts';
import { toAgentMessage } from './users/simulated-user.ts';

/** A session: its scenario, what was said, and how it ended. */
export interface PlayedSession {
  scenario: CompleteScenario;
  turns: readonly SimulatedTurn[];
  endReason: EndReason;
}

const neverAborted = new AbortController().signal;

/**
 * Checks whether the simulated user followed its scenario: it stated no fact without being asked, stopped when
 * it was done and not earlier, said only lines of its script, and stayed in its role. It reads only the
 * transcript, so it can find faults of the user itself. A pattern that takes too long finds nothing.
 */
export async function checkAdherence(session: PlayedSession): Promise<UserAdherence> {
  const findings = [
    ...findUnaskedFacts(session),
    ...(await findLateStop(session)),
    ...findEarlyStop(session),
    ...findOffScriptLine(session),
    ...findOutOfCharacterLine(session),
  ].sort((a, b) => a.turn - b.turn);
  return { followed_scenario: findings.length === 0, findings };
}

function findUnaskedFacts({ scenario, turns }: PlayedSession): Deviation[] {
  const initial = scenario.initial_messages.map(({ content }) => content);
  return scenario.user.facts.flatMap((fact) => {
    const turn = turns.find(({ userInput }) => containsText(userInput, fact.value));
    if (!turn) return [];
    const earlier = turns.filter(({ sequence }) => sequence < turn.sequence);
    const replies = [...initial, ...earlier.map(({ agentResponse }) => agentResponse)];
    // A fact that the agent has mentioned itself is no longer a secret.
    if (replies.some((reply) => asksForFact(fact, reply) || containsText(reply, fact.value))) {
      return [];
    }
    const description = `states the ${fact.name} before the agent asks for it`;
    return [toFinding('fact_unasked', turn, description)];
  });
}

async function findLateStop({ scenario, turns }: PlayedSession): Promise<Deviation[]> {
  for (const [index, turn] of turns.slice(0, -1).entries()) {
    // If the agent speaks first, its greeting responds to nothing yet.
    if (turn.userInput === '') continue;
    const next = turns[index + 1];
    // A user that interrupts a reply has not heard all of it.
    if (next?.interrupts) continue;
    const number = listCountedTurns(turns.slice(0, index + 1)).length;
    const message = toAgentMessage(number, turn.agentResponse, turn.toolCalls);
    for (const condition of scenario.user.stop_when) {
      const isDone = await meetsCondition(condition, message, neverAborted).catch(() => false);
      if (next && isDone) return [toFinding('went_on', next, 'continues after stop_when was met')];
    }
  }
  return [];
}

/** A user with lines left, and without a reply that ends the conversation, is not done. */
function findEarlyStop({ scenario, turns, endReason }: PlayedSession): Deviation[] {
  const { mode, steps, stop_when: stopConditions } = scenario.user;
  const last = turns.at(-1);
  if (endReason !== 'goal_achieved' || !last || stopConditions.length > 0) return [];
  const hasJumps = steps.some(({ next }) => next !== undefined);
  if (mode === 'llm' || hasJumps) return [];
  const unsaid = steps.filter(({ say }) => !turns.some(({ userInput }) => userInput === say));
  if (unsaid.length === 0) return [];
  return [
    toFinding('stopped_early', last, `stops with ${formatCount(unsaid.length, 'step')} left`),
  ];
}

/** A user that no model plays says only the lines of its scenario. */
function findOffScriptLine({ scenario, turns }: PlayedSession): Deviation[] {
  const { mode, opening = '', opening_delivery: opened, steps, reactions, facts } = scenario.user;
  if (mode === 'llm') return [];
  const factLines = facts.map(stateFact);
  const lines = new Set([
    ...['', opening, ...factLines],
    ...steps.flatMap(({ say, otherwise = say }) => [say, otherwise]),
    ...reactions.map(({ say }) => say),
    ...[opened, ...steps].flatMap(({ interrupt }) => interrupt?.say ?? []),
  ]);
  const turn = turns.find(({ userInput }) => {
    const rest = factLines.reduce((left, line) => left.replace(line, ''), userInput).trim();
    return !lines.has(userInput) && rest !== '';
  });
  return turn ? [toFinding('off_script', turn, 'says a line that is not in the scenario')] : [];
}

/** Phrases of models that forget whom they play. */
const ASSISTANT_PHRASES =
  /\b(?:as an ai\b|(?:large )?language model|i(?:'m| am) (?:an? )?(?:ai|virtual|customer (?:service|support)) (?:assistant|agent)|how (?:can|may) i (?:help|assist) you)/i;

function findOutOfCharacterLine({ scenario, turns }: PlayedSession): Deviation[] {
  if (scenario.user.mode !== 'llm') return [];
  const turn = turns.find(({ userInput }) => ASSISTANT_PHRASES.test(userInput));
  return turn ? [toFinding('out_of_character', turn, 'speaks like an assistant')] : [];
}

const toFinding = (
  rule: Deviation['rule'],
  { sequence }: SimulatedTurn,
  description: string,
): Deviation => ({
  rule,
  turn: sequence,
  message: `The user ${description} (turn ${sequence}).`,
});
