import type { Persona, Scenario, ScenarioFact, ScenarioStep } from '../../contract/index.ts';
import { holds } from './conditions.ts';
import { asksFor, toldAs } from './facts.ts';
import { takesLeave } from './farewell.ts';
import type { Heard, Move, SimulatedUser } from './simulated-user.ts';

type Line = Extract<Move, { does: 'say' }>;

/** How often in a row the agent may take leave, with nothing to go on with, before the user goes. */
const leavesMax = 2;

/**
 * Goes through a scenario as the agent's replies call for it. What follows on a reply, the first that
 * fits:
 *
 *     stop_when holds        -> done: goal_achieved
 *     a reaction's when      -> its line, and with stop the end: user_stop
 *     a fact is asked for    -> told: what was not told yet before what was
 *     the step's when holds  -> its line, and on to the next step
 *     no step is left        -> done: goal_achieved
 *     else                   -> otherwise, or the last line again, until patience is at an end
 *                               (user_stop) or the agent takes leave twice (agent_ended)
 *
 * No chance and no model: the same replies, the same lines.
 */
export function graphUser(scenario: Scenario, persona: Persona): SimulatedUser {
  return new GraphUser(scenario, persona);
}

class GraphUser implements SimulatedUser {
  readonly #user: Scenario['user'];
  readonly #steps: readonly ScenarioStep[];
  readonly #patience: number;
  readonly #told = new Set<ScenarioFact>();
  readonly #reacted = new Map<number, number>();
  #at = 0;
  #stalled = 0;
  #leaves = 0;
  #last: string | undefined;

  constructor({ user }: Scenario, persona: Persona) {
    this.#user = user;
    this.#steps = user.steps ?? [];
    this.#patience = persona.patience_turns ?? Infinity;
  }

  async next(heard: Heard | undefined, signal: AbortSignal): Promise<Move> {
    if (this.#last === undefined || heard === undefined) {
      return this.#say(this.#user.opening ?? '', 'opens the conversation');
    }
    for (const condition of this.#user.stop_when ?? []) {
      if (await holds(condition, heard, signal)) return { does: 'end', reason: 'goal_achieved' };
    }
    const move = (await this.#react(heard, signal)) ?? this.#tell(heard, 'first');
    if (move) return this.#goneOn(move);
    const step = this.#steps[this.#at];
    if (step && (!step.when || (await holds(step.when, heard, signal)))) {
      return this.#goneOn(this.#take(step));
    }
    const again = this.#tell(heard, 'again');
    if (again) return this.#stall(heard, again);
    if (!step) return { does: 'end', reason: 'goal_achieved' };
    const line = step.otherwise ?? this.#last;
    return this.#stall(heard, this.#say(line, `waits for what step ${this.#at + 1} goes on from`));
  }

  #say(line: string, reason: string): Line {
    this.#last = line;
    return { does: 'say', line, reason };
  }

  #goneOn(move: Move): Move {
    [this.#stalled, this.#leaves] = [0, 0];
    return move;
  }

  /** The reply brought the user no further. */
  #stall(heard: Heard, move: Move): Move {
    this.#stalled += 1;
    this.#leaves = takesLeave(heard.content) ? this.#leaves + 1 : 0;
    if (this.#leaves >= leavesMax) return { does: 'end', reason: 'agent_ended' };
    if (this.#stalled >= this.#patience) return { does: 'end', reason: 'user_stop' };
    return move;
  }

  async #react(heard: Heard, signal: AbortSignal): Promise<Move | undefined> {
    for (const [nth, reaction] of (this.#user.reactions ?? []).entries()) {
      const times = this.#reacted.get(nth) ?? 0;
      if (times >= (reaction.times ?? 1) || !(await holds(reaction.when, heard, signal))) continue;
      this.#reacted.set(nth, times + 1);
      const move = this.#say(reaction.say, reaction.reason ?? `reacts to the reply (${nth + 1})`);
      return reaction.stop === true ? { ...move, thenEnds: 'user_stop' } : move;
    }
    return undefined;
  }

  /** Tells what the agent asks for, and nothing else. */
  #tell(heard: Heard, which: 'first' | 'again'): Line | undefined {
    const asked = (this.#user.facts ?? []).filter((fact) => asksFor(fact, heard.content));
    const due = asked.filter((fact) => this.#told.has(fact) === (which === 'again'));
    if (due.length === 0) return undefined;
    for (const fact of due) this.#told.add(fact);
    const names = due.map(({ name }) => name).join(', ');
    const reason = which === 'first' ? `is asked for: ${names}` : `is asked again for: ${names}`;
    return this.#say(due.map(toldAs).join(' '), reason);
  }

  #take(step: ScenarioStep): Move {
    const number = this.#at + 1;
    const next = step.next === undefined ? -1 : this.#steps.findIndex(({ id }) => id === step.next);
    this.#at = next < 0 ? number : next;
    const reason = step.reason ?? `goes on to step ${number} of ${this.#steps.length}`;
    return this.#say(step.say, reason);
  }
}
