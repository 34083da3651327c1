import type { Persona, ScenarioStep } from '../../../contract/index.ts';
import {
  patienceOf,
  type CompleteFact,
  type CompleteScenario,
  type CompleteUser,
} from '../../scenarios/complete-scenario.ts';
import { deliveryOf } from '../calls/delivery.ts';
import {
  asksForFact,
  isFarewell,
  meetsAny,
  meetsCondition,
  stateFact,
} from './reply-conditions.ts';
import {
  FAREWELLS_MAX,
  type AgentMessage,
  type Move,
  type SayMove,
  type SimulatedUser,
} from './simulated-user.ts';

/**
 * Creates a user that chooses its lines by the agent's replies. For each reply, the first rule that applies:
 *
 *     a stop_when condition is met        -> the user is done: goal_achieved
 *     the condition of a reaction is met  -> says its line; with stop, ends: user_stop
 *     the reply asks for a new fact       -> states it
 *     the condition of the step is met    -> says the line of the step and moves to the next step
 *     the reply asks for a known fact     -> states it again; counts as no progress
 *     no step is left                     -> the user is done: goal_achieved
 *     otherwise                           -> says `otherwise` or repeats the last line; counts as no progress
 *
 * After too many replies without progress the user gives up (user_stop); after two farewells without progress
 * the agent has ended the conversation (agent_ended). There is no randomness: the same replies lead to the
 * same lines.
 */
export function createGraphUser(scenario: CompleteScenario, persona: Persona): SimulatedUser {
  return new GraphUser(scenario, persona);
}

class GraphUser implements SimulatedUser {
  readonly #user: CompleteUser;
  readonly #steps: readonly ScenarioStep[];
  readonly #patienceTurns: number;
  readonly #statedFacts = new Set<CompleteFact>();
  readonly #reactionCounts = new Map<number, number>();
  #position = 0;
  /** The line of the scenario that the user said last: 1 for the opening, 2 for the first step. */
  #scenarioLine = 1;
  #turnsWithoutProgress = 0;
  #farewells = 0;
  #lastLine: string | undefined;

  constructor({ user }: CompleteScenario, persona: Persona) {
    this.#user = user;
    this.#steps = user.steps;
    this.#patienceTurns = patienceOf(persona);
  }

  async next(agentMessage: AgentMessage | undefined, signal: AbortSignal): Promise<Move> {
    if (this.#lastLine === undefined || agentMessage === undefined) {
      const { opening = '', opening_delivery: delivery } = this.#user;
      return { ...this.#say(opening, 'opens the conversation'), delivery };
    }
    if (await meetsAny(this.#user.stop_when, agentMessage, signal)) {
      return { does: 'end', reason: 'goal_achieved' };
    }
    const move = (await this.#react(agentMessage, signal)) ?? this.#stateFacts(agentMessage, 'new');
    if (move) return this.#progress(move);
    const step = this.#steps[this.#position];
    if (step && (!step.when || (await meetsCondition(step.when, agentMessage, signal)))) {
      return this.#progress(this.#takeStep(step));
    }
    const repeated = this.#stateFacts(agentMessage, 'repeated');
    if (repeated) return this.#stall(agentMessage, repeated);
    if (!step) return { does: 'end', reason: 'goal_achieved' };
    const line = step.otherwise ?? this.#lastLine;
    return this.#stall(
      agentMessage,
      this.#say(line, `waits for the condition of step ${this.#position + 1}`),
    );
  }

  #say(line: string, reason: string): SayMove {
    this.#lastLine = line;
    const linesLeft = this.#steps.length - this.#position;
    return { does: 'say', line, reason, scenarioLine: this.#scenarioLine, linesLeft };
  }

  #progress(move: Move): Move {
    this.#turnsWithoutProgress = 0;
    this.#farewells = 0;
    return move;
  }

  #stall(agentMessage: AgentMessage, move: Move): Move {
    this.#turnsWithoutProgress += 1;
    this.#farewells = isFarewell(agentMessage.content) ? this.#farewells + 1 : 0;
    if (this.#farewells >= FAREWELLS_MAX) return { does: 'end', reason: 'agent_ended' };
    if (this.#turnsWithoutProgress >= this.#patienceTurns) {
      return { does: 'end', reason: 'user_stop' };
    }
    return move;
  }

  async #react(agentMessage: AgentMessage, signal: AbortSignal): Promise<Move | undefined> {
    for (const [index, reaction] of this.#user.reactions.entries()) {
      const count = this.#reactionCounts.get(index) ?? 0;
      if (count >= reaction.times) continue;
      if (!(await meetsCondition(reaction.when, agentMessage, signal))) continue;
      this.#reactionCounts.set(index, count + 1);
      const reason = reaction.reason ?? `reacts to the reply (reaction ${index + 1})`;
      const move = this.#say(reaction.say, reason);
      return reaction.stop ? { ...move, thenEnds: 'user_stop' } : move;
    }
    return undefined;
  }

  /** States the facts that the reply asks for, and no others. */
  #stateFacts(agentMessage: AgentMessage, which: 'new' | 'repeated'): SayMove | undefined {
    const requested = this.#user.facts.filter((fact) => asksForFact(fact, agentMessage.content));
    const facts = requested.filter(
      (fact) => this.#statedFacts.has(fact) === (which === 'repeated'),
    );
    if (facts.length === 0) return undefined;
    for (const fact of facts) this.#statedFacts.add(fact);
    const names = facts.map(({ name }) => name).join(', ');
    const reason = which === 'new' ? `is asked for: ${names}` : `is asked again for: ${names}`;
    return this.#say(facts.map(stateFact).join(' '), reason);
  }

  #takeStep(step: ScenarioStep): Move {
    const number = this.#position + 1;
    const next = step.next === undefined ? -1 : this.#steps.findIndex(({ id }) => id === step.next);
    this.#position = next < 0 ? number : next;
    this.#scenarioLine = number + 1;
    const reason = step.reason ?? `goes on to step ${number} of ${this.#steps.length}`;
    return { ...this.#say(step.say, reason), delivery: deliveryOf(step) };
  }
}
