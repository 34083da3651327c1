import type { Clock } from '../../platform/clock.ts';
import type { CallMessage } from '../../voice/call/index.ts';
import { isObject } from '../../platform/json.ts';
import { readToolCalls } from './read-reply.ts';
import type { ReplyToolCall } from './simulated-session.ts';

/** Limits per turn: updates that are read, and characters that are kept. */
const UPDATES_MAX = 200;
const TEXT_CHARS_MAX = 20_000;

/** The `conversation_update` messages of a call (spec 6), turn by turn. */
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
  #reportsTools = false;
  #hasSpoken = false;
  #isAnswering = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** What the agent says in this turn; empty if it sent no text. */
  get agentText(): string {
    return this.#texts.join(' ').slice(0, TEXT_CHARS_MAX);
  }

  /**
   * What the user said in this turn, according to the agent; empty if it sent no text for this
   * line.
   */
  get userText(): string {
    return this.#hasHeardLine ? this.#heard.join(' ').slice(0, TEXT_CHARS_MAX) : '';
  }

  get toolCalls(): ReplyToolCall[] {
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

  /** Whether the agent has said anything in this call. */
  get hasSpoken(): boolean {
    return this.#hasSpoken;
  }

  /** Starts a new turn. */
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

  /**
   * Marks the end of the user's line: every update from now on is a reply to it, even if its text
   * is repeated.
   */
  markLineSpoken(): void {
    this.#isAnswering = true;
  }

  handle(message: CallMessage): void {
    if (message['type'] !== 'conversation_update' || this.#count >= UPDATES_MAX) return;
    this.#count += 1;
    const { transcript, tool_calls: tools, evaluation_metadata: hints } = message;
    if (Array.isArray(tools)) this.#reportsTools = true;
    const { agent, user } = isObject(transcript) ? transcript : {};
    if (typeof user === 'string' && user.trim() !== '') {
      this.#heard.push(user.slice(0, TEXT_CHARS_MAX));
      // An earlier update may still belong to the previous turn.
      this.#hasHeardLine ||= this.#isAnswering;
    }
    const said = typeof agent === 'string' ? agent.trim() : '';
    if (said !== '' && this.#isLate(said)) return;
    if (Array.isArray(tools)) this.#toolCalls = [...this.#toolCalls, ...readToolCalls(tools)];
    if (isObject(hints)) this.#hints = { ...this.#hints, ...hints };
    if (said !== '') this.#say(said);
  }

  /** Whether an update repeats the end of the previous turn before the user's line has ended. */
  #isLate(said: string): boolean {
    return !this.#isAnswering && this.#texts.length === 0 && this.#before.endsWith(said);
  }

  /** Adds text; some agents send it piece by piece, others send all of it again each time. */
  #say(said: string): void {
    this.#hasSpoken = true;
    this.#lastAtMs = this.#clock.monotonicMs();
    const soFar = this.agentText;
    if (soFar !== '' && said.startsWith(soFar)) this.#texts = [said];
    else if (!soFar.endsWith(said)) this.#texts.push(said);
  }
}

/** Checks by the agent's updates whether it understood the user's lines. */
export class TranscriptComparison {
  #compared = 0;
  #missed = 0;

  /** Compares a spoken line with what the agent heard; an empty transcript is not counted. */
  compare(spoken: string, heard: string): void {
    const [wanted, there] = [wordsOf(spoken), new Set(wordsOf(heard))];
    if (wanted.length === 0 || there.size === 0) return;
    this.#compared += 1;
    const lost = wanted.filter((word) => !there.has(word)).length;
    if (lost * 2 > wanted.length) this.#missed += 1;
  }

  /** Notes for the session, without text of the conversation. */
  get notes(): string[] {
    if (this.#missed === 0) return [];
    const turns = `In ${this.#missed} of ${this.#compared} turns`;
    const told = "the agent's transcript of the user differs from what was spoken";
    return [`${turns} ${told}: it did not understand them.`];
  }
}

/** Ignores case and punctuation; in scripts without spaces, each character is a word. */
const wordsOf = (text: string): string[] =>
  text
    .toLowerCase()
    .match(/[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]|[\p{L}\p{N}\p{M}]+/gu) ?? [];
