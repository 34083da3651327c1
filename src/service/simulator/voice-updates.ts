import type { Clock } from '../../platform/clock.ts';
import type { CallMessage } from '../../voice/call/index.ts';
import { isObject } from '../../platform/json.ts';
import { toolCallsIn } from './read-reply.ts';
import type { ReplyToolCall } from './simulated-session.ts';

/** Of one turn so many updates are read, and so many characters kept. */
const UPDATES_MAX = 200;
const TEXT_CHARS_MAX = 20_000;

/** What the agent says that it says: the `conversation_update`s of a call (spec 6), turn by turn. */
export class VoiceUpdates {
  readonly #clock: Clock;
  #texts: string[] = [];
  #before = '';
  #heard: string[] = [];
  #hasHeardLine = false;
  #toolCalls: ReplyToolCall[] = [];
  #hints: Record<string, unknown> | undefined;
  #count = 0;
  #lastAtMs = -Infinity;
  #tellsTools = false;
  #hasSpoken = false;
  #isAnswering = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** What the agent says in this turn; empty where nothing came. */
  get agentText(): string {
    return this.#texts.join(' ').slice(0, TEXT_CHARS_MAX);
  }

  /** What it tells that the user said in this turn; empty where it has told nothing of the line. */
  get userText(): string {
    return this.#hasHeardLine ? this.#heard.join(' ').slice(0, TEXT_CHARS_MAX) : '';
  }

  get toolCalls(): ReplyToolCall[] {
    return this.#toolCalls;
  }

  /** What the sandbox hints at for this turn. */
  get hints(): Record<string, unknown> | undefined {
    return this.#hints;
  }

  /** When the last update came that says anything; -Infinity: never. */
  get lastAtMs(): number {
    return this.#lastAtMs;
  }

  /** Whether any update of the call told tool calls, be it that there were none: an extension. */
  get tellsTools(): boolean {
    return this.#tellsTools;
  }

  /** Whether the agent has said anything in this call. */
  get hasSpoken(): boolean {
    return this.#hasSpoken;
  }

  /** A turn is over: what comes from now on is of the next. */
  beginTurn(): void {
    this.#before = this.agentText;
    this.#isAnswering = false;
    this.#texts = [];
    this.#heard = [];
    this.#hasHeardLine = false;
    this.#toolCalls = [];
    this.#hints = undefined;
    this.#count = 0;
  }

  /** Our line is said: whatever comes now answers it, even if it is what was said before. */
  markLineSpoken(): void {
    this.#isAnswering = true;
  }

  handle(message: CallMessage): void {
    if (message['type'] !== 'conversation_update' || this.#count >= UPDATES_MAX) return;
    this.#count += 1;
    const { transcript, tool_calls: tools, evaluation_metadata: hints } = message;
    if (Array.isArray(tools)) this.#tellsTools = true;
    const { agent, user } = isObject(transcript) ? transcript : {};
    if (typeof user === 'string' && user.trim() !== '') {
      this.#heard.push(user.slice(0, TEXT_CHARS_MAX));
      // What comes before may tell of the turn before.
      this.#hasHeardLine ||= this.#isAnswering;
    }
    const said = typeof agent === 'string' ? agent.trim() : '';
    if (said !== '' && this.#isLate(said)) return;
    if (Array.isArray(tools)) this.#toolCalls = [...this.#toolCalls, ...toolCallsIn(tools)];
    if (isObject(hints)) this.#hints = { ...this.#hints, ...hints };
    if (said !== '') this.#say(said);
  }

  /** Before our line is said, what ends the turn before is told once more. */
  #isLate(said: string): boolean {
    return !this.#isAnswering && this.#texts.length === 0 && this.#before.endsWith(said);
  }

  /** Some agents tell what they say bit by bit, others tell all of it again each time. */
  #say(said: string): void {
    this.#hasSpoken = true;
    this.#lastAtMs = this.#clock.monotonicMs();
    const soFar = this.agentText;
    if (soFar !== '' && said.startsWith(soFar)) this.#texts = [said];
    else if (!soFar.endsWith(said)) this.#texts.push(said);
  }
}

/** Whether the agent understood what was spoken, by what its updates tell of the user's words. */
export class TranscriptComparison {
  #compared = 0;
  #missed = 0;

  /** Told of each line: what was spoken, and what the agent heard; empty where it does not tell. */
  compare(spoken: string, heard: string): void {
    const [wanted, there] = [wordsOf(spoken), new Set(wordsOf(heard))];
    if (wanted.length === 0 || there.size === 0) return;
    this.#compared += 1;
    const lost = wanted.filter((word) => !there.has(word)).length;
    if (lost * 2 > wanted.length) this.#missed += 1;
  }

  /** For the session; without text of the conversation. */
  get notes(): string[] {
    if (this.#missed === 0) return [];
    const turns = `In ${this.#missed} of ${this.#compared} turns`;
    const told = "the agent's update tells other words of the user than were spoken";
    return [`${turns} ${told}: it did not understand them.`];
  }
}

/** Loosely: without case and marks, and sign by sign where words have no spaces between them. */
const wordsOf = (text: string): string[] =>
  text
    .toLowerCase()
    .match(/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]|[\p{L}\p{N}\p{M}]+/gu) ?? [];
