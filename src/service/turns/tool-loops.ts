import type { StoredSpan } from '../store/records.ts';
import { findLastUserIndex, isToolResponse, unwrapJson, type Message } from './messages.ts';
import type { Step, TurnSpans } from './turn-parts.ts';

/** How many waiting turns to compare with a model call, starting with the latest. */
const WAITING_SEARCHED_MAX = 32;

/** The tool loops of a conversation: the turns whose last model call requested tools. */
export class ToolLoops {
  /** The latest turn with a tool call of this id. */
  readonly #byCall = new Map<string, TurnSpans>();
  /** Turns that requested tools, by trace; the latest is last. */
  readonly #byTrace = new Map<string, TurnSpans[]>();
  /** The same turns, of all traces. */
  readonly #all: TurnSpans[] = [];

  /** Adds the model calls of a turn. */
  add(turn: TurnSpans, steps: readonly Step[]): void {
    for (const { output } of steps) {
      for (const { calls } of output) {
        for (const { id } of calls) if (id !== undefined) this.#byCall.set(id, turn);
      }
    }
    const last = steps.findLast(requestsTools);
    if (!last) return;
    this.#all.push(turn);
    const { traceId } = last.span;
    const turns = this.#byTrace.get(traceId);
    if (turns) turns.push(turn);
    else this.#byTrace.set(traceId, [turn]);
  }

  findByCall(id: unknown): TurnSpans | undefined {
    return typeof id === 'string' ? this.#byCall.get(id) : undefined;
  }

  /**
   * Finds the turn that a model call continues, if its last input message is a tool response. Tries
   * the ids of its tool calls, then the latest waiting turn of its trace, and then the waiting turn
   * whose messages it repeats, because each model call may have a separate trace.
   */
  findTurn({ span, input }: Step): TurnSpans | undefined {
    const last = input.at(-1);
    if (!last || !isToolResponse(last)) return undefined;
    return (
      this.#findByIds(input.slice(findLastUserIndex(input) + 1)) ??
      this.#findInTrace(span) ??
      this.#findByHistory(input)
    );
  }

  #findByIds(messages: readonly Message[]): TurnSpans | undefined {
    for (const { calls, responses } of messages.toReversed()) {
      for (const { id } of [...responses, ...calls]) {
        const turn = this.findByCall(id);
        if (turn) return turn;
      }
    }
    return undefined;
  }

  #findInTrace({ traceId }: StoredSpan): TurnSpans | undefined {
    const turns = this.#byTrace.get(traceId) ?? [];
    let latest = turns.pop();
    while (latest && !isWaiting(latest)) latest = turns.pop();
    return latest;
  }

  #findByHistory(input: readonly Message[]): TurnSpans | undefined {
    const latest = this.#all.slice(-WAITING_SEARCHED_MAX);
    return latest.findLast((turn) => isWaiting(turn) && isRepeated(findLastStep(turn), input));
  }
}

/** Returns whether `input` repeats the input of an earlier step and then adds no user message. */
function isRepeated(step: Step | undefined, input: readonly Message[]): boolean {
  const { length } = step?.input ?? [];
  if (!step || findLastUserIndex(step.input) < 0 || length >= input.length) return false;
  if (findLastUserIndex(input) >= length) return false;
  return step.input.every((message, index) => isSame(message, input[index]));
}

function isSame(a: Message, b: Message | undefined): boolean {
  return a.role === b?.role && a.text === b.text && JSON.stringify(a) === JSON.stringify(b);
}

/** Returns whether the last model call of a turn requested tools, so that another call follows. */
function isWaiting(turn: TurnSpans): boolean {
  const last = findLastStep(turn);
  return last !== undefined && requestsTools(last);
}

function findLastStep({ segments }: TurnSpans): Step | undefined {
  const last = segments.at(-1);
  return last?.chats.at(-1) ?? last?.wrapper;
}

function requestsTools({ span, output }: Step): boolean {
  const reasons = unwrapJson(span.attributes['gen_ai.response.finish_reasons']);
  const hasToolReason = [reasons].flat().some((reason) => /^tool/i.test(String(reason)));
  return hasToolReason || output.some(({ stopsForTools }) => stopsForTools);
}
