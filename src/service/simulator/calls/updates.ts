import type { Clock } from '../../../platform/clock.ts';
import type { CallMessage } from '../../../voice/call/index.ts';
import { isObject } from '../../../platform/json.ts';
import { readToolCalls } from '../sandbox/read-reply.ts';
import type { ToolCall } from '../../turns/turn-types.ts';

/** Limits per turn: updates that are read, and characters that are kept. */
const UPDATES_MAX = 200;
const TEXT_CHARS_MAX = 20_000;

/** The `conversation_update` messages of a call (spec 6), turn by turn. */
export class VoiceUpdates {
  readonly #clock: Clock;
  #agentTexts: string[] = [];
  #previousText = '';
  #userTexts: string[] = [];
  #hasUserText = false;
  #toolCalls: ToolCall[] = [];
  #hints: Record<string, unknown> | undefined;
  #count = 0;
  #lastAtMs = -Infinity;
  #reportsTools = false;
  #hasSpoken = false;
  #isReplying = false;
  /** Where the user interrupted the agent, which may then take back what it did not get to say. */
  #interrupted: 'this_turn' | 'previous_turn' | undefined;
  #spokenText: string | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** What the agent says in this turn; empty if it sent no text. */
  get agentText(): string {
    return this.#agentTexts.join(' ').slice(0, TEXT_CHARS_MAX);
  }

  /**
   * What the user said in this turn, according to the agent; empty if it sent no text for this
   * line.
   */
  get userText(): string {
    return this.#hasUserText ? this.#userTexts.join(' ').slice(0, TEXT_CHARS_MAX) : '';
  }

  get toolCalls(): ToolCall[] {
    return this.#toolCalls;
  }

  /** The evaluation hints for this turn. */
  get hints(): Record<string, unknown> | undefined {
    return this.#hints;
  }

  /** When the last update with text arrived; -Infinity if there was none. */
  get lastAtMs(): number {
    return this.#lastAtMs;
  }

  /** Whether any update had `tool_calls`, even an empty list: an extension. */
  get reportsTools(): boolean {
    return this.#reportsTools;
  }

  /** Whether the agent has sent any text in this call. */
  get hasSpoken(): boolean {
    return this.#hasSpoken;
  }

  /** Starts a new turn. */
  beginTurn(): void {
    this.#previousText = this.agentText;
    this.#isReplying = false;
    this.#interrupted = this.#interrupted === 'this_turn' ? 'previous_turn' : undefined;
    this.#agentTexts = [];
    this.#userTexts = [];
    this.#hasUserText = false;
    this.#toolCalls = [];
    this.#hints = undefined;
    this.#count = 0;
  }

  /**
   * Marks the end of the user's line: every update from now on is a reply to it, even if its text
   * is repeated.
   */
  markLineSpoken(): void {
    this.#isReplying = true;
  }

  /**
   * Marks the start of an interruption: from now on and in the next turn, the agent may take back what
   * it did not get to say.
   */
  markInterrupted(): void {
    this.#interrupted = 'this_turn';
    this.#spokenText = undefined;
  }

  /**
   * What the agent has said of the interrupted reply, by an update after the interruption: an
   * extension. Undefined if it sent none.
   */
  get spokenText(): string | undefined {
    return this.#spokenText;
  }

  handle(message: CallMessage): void {
    if (message['type'] !== 'conversation_update' || this.#count >= UPDATES_MAX) return;
    this.#count += 1;
    // An extension: it repeats the text of an interrupted reply, as far as it was said.
    if (isObject(message['metadata']) && message['metadata']['interrupted'] === true) {
      this.#correct(message['transcript']);
      return;
    }
    const { transcript, tool_calls: tools, evaluation_metadata: hints } = message;
    if (Array.isArray(tools)) this.#reportsTools = true;
    const { agent, user } = isObject(transcript) ? transcript : {};
    if (typeof user === 'string' && user.trim() !== '') {
      this.#userTexts.push(user.slice(0, TEXT_CHARS_MAX));
      // An earlier update may still belong to the previous turn.
      this.#hasUserText ||= this.#isReplying;
    }
    const text = typeof agent === 'string' ? agent.trim() : '';
    if (text !== '' && this.#isLate(text)) return;
    if (Array.isArray(tools)) this.#toolCalls = [...this.#toolCalls, ...readToolCalls(tools)];
    if (isObject(hints)) this.#hints = { ...this.#hints, ...hints };
    if (text !== '') this.#say(text);
  }

  /** Replaces the text of the reply that the user interrupts with what was said of it. */
  #correct(transcript: unknown): void {
    const text = isObject(transcript) ? transcript['agent'] : undefined;
    if (typeof text !== 'string' || !this.#interrupted) return;
    this.#spokenText = text.trim().slice(0, TEXT_CHARS_MAX);
    if (this.#interrupted === 'previous_turn') return;
    this.#agentTexts = this.#spokenText === '' ? [] : [this.#spokenText];
  }

  /** Whether an update repeats the end of the previous turn before the user's line has ended. */
  #isLate(text: string): boolean {
    return !this.#isReplying && this.#agentTexts.length === 0 && this.#previousText.endsWith(text);
  }

  /** Adds text; some agents send it piece by piece, others send all of it again each time. */
  #say(text: string): void {
    this.#hasSpoken = true;
    this.#lastAtMs = this.#clock.monotonicMs();
    const previous = this.agentText;
    const isCut = previous !== text && previous.startsWith(text);
    if (this.#interrupted === 'this_turn' && isCut) {
      this.#spokenText = text;
      this.#agentTexts = [text];
    } else if (previous !== '' && text.startsWith(previous)) this.#agentTexts = [text];
    else if (!previous.endsWith(text)) this.#agentTexts.push(text);
  }
}
