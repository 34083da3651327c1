import type { EndReason, ReviewFinding, Scenario, UserReview } from '../../contract/index.ts';
import { holds, says } from './conditions.ts';
import { asksFor, toldAs } from './facts.ts';
import type { SimulatedTurn } from './simulated-session.ts';

/** What is reviewed: what was said, and how it ended. */
export interface Held {
  scenario: Scenario;
  turns: readonly SimulatedTurn[];
  endReason: EndReason;
}

const noSignal = new AbortController().signal;

/**
 * Whether the simulated user kept to its scenario, by the transcript alone and whoever played it:
 * told no fact unasked, stopped when it was done and not before, said what its script has, stayed in
 * its role. A pattern that does not come to an end finds nothing.
 */
export async function reviewUser(held: Held): Promise<UserReview> {
  const findings = [
    ...unaskedFacts(held),
    ...(await wentOn(held)),
    ...stoppedEarly(held),
    ...offScript(held),
    ...outOfCharacter(held),
  ].sort((one, other) => one.turn - other.turn);
  return { kept: findings.length === 0, findings };
}

function unaskedFacts({ scenario, turns }: Held): ReviewFinding[] {
  const before = (scenario.initial_messages ?? []).map(({ content }) => content);
  return (scenario.user.facts ?? []).flatMap((fact) => {
    const told = turns.find(({ userInput }) => says(userInput, fact.value));
    if (!told) return [];
    const heard = turns.filter(({ sequence }) => sequence < told.sequence);
    const replies = [...before, ...heard.map(({ agentResponse }) => agentResponse)];
    // What the agent itself has named is no secret any more.
    if (replies.some((reply) => asksFor(fact, reply) || says(reply, fact.value))) return [];
    const what = `tells the ${fact.name} before the agent asked for it`;
    return [finding('fact_unasked', told, what)];
  });
}

async function wentOn({ scenario, turns }: Held): Promise<ReviewFinding[]> {
  for (const [nth, turn] of turns.slice(0, -1).entries()) {
    // What the agent says first answers nothing yet.
    if (turn.userInput === '') continue;
    for (const condition of scenario.user.stop_when ?? []) {
      const next = turns[nth + 1];
      const isDone = await holds(condition, heardIn(turn), noSignal).catch(() => false);
      if (next && isDone) return [finding('went_on', next, 'goes on after stop_when was met')];
    }
  }
  return [];
}

/** Who has lines left, and no reply that ends it, is not done. */
function stoppedEarly({ scenario, turns, endReason }: Held): ReviewFinding[] {
  const { mode = 'graph', steps = [], stop_when: stops = [] } = scenario.user;
  const last = turns.at(-1);
  if (endReason !== 'goal_achieved' || !last || stops.length > 0) return [];
  const hasJumps = steps.some(({ next }) => next !== undefined);
  if (mode === 'llm' || hasJumps) return [];
  const unsaid = steps.filter(({ say }) => !turns.some(({ userInput }) => userInput === say));
  if (unsaid.length === 0) return [];
  return [finding('stopped_early', last, `stops with ${unsaid.length} steps unsaid`)];
}

/** A user that no model plays says what its scenario has, to the letter. */
function offScript({ scenario, turns }: Held): ReviewFinding[] {
  const { mode = 'graph', opening = '', steps = [], reactions = [], facts = [] } = scenario.user;
  if (mode === 'llm') return [];
  const told = facts.map(toldAs);
  const lines = new Set([
    ...['', opening, ...told],
    ...steps.flatMap(({ say, otherwise = say }) => [say, otherwise]),
    ...reactions.map(({ say }) => say),
  ]);
  const strange = turns.find(({ userInput }) => {
    const rest = told.reduce((left, line) => left.replace(line, ''), userInput).trim();
    return !lines.has(userInput) && rest !== '';
  });
  return strange ? [finding('off_script', strange, 'says what is no line of the scenario')] : [];
}

/** Models that forget whom they play. */
const betrayal =
  /\b(?:as an ai\b|(?:large )?language model|i(?:'m| am) (?:an? )?(?:ai|virtual|customer (?:service|support)) (?:assistant|agent)|how (?:can|may) i (?:help|assist) you)/i;

function outOfCharacter({ scenario, turns }: Held): ReviewFinding[] {
  if (scenario.user.mode !== 'llm') return [];
  const turn = turns.find(({ userInput }) => betrayal.test(userInput));
  return turn ? [finding('out_of_character', turn, 'speaks like an assistant')] : [];
}

const heardIn = ({ sequence, agentResponse, toolCalls }: SimulatedTurn) => ({
  turn: sequence,
  content: agentResponse,
  tools: toolCalls.map(({ name }) => name),
});

const finding = (
  rule: ReviewFinding['rule'],
  { sequence }: SimulatedTurn,
  what: string,
): ReviewFinding => ({ rule, turn: sequence, message: `The user ${what} (turn ${sequence}).` });
