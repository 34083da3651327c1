import type { Clock } from '../../platform/clock.ts';
import type { CallMessage } from '../../voice/call/index.ts';
import { isObject } from '../../platform/json.ts';
import { toolCallsIn } from './read-reply.ts';
import type { ReplyToolCall } from './simulated-session.ts';

/** Of one turn so many updates are read, and so many characters kept. */
const updatesMax = 200;
const textCharsMax = 20_000;

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
  get text(): string {
    return this.#texts.join(' ').slice(0, textCharsMax);
  }

  /** What it tells that the user said in this turn; empty where it has told nothing of the line. */
  get heard(): string {
    return this.#hasHeardLine ? this.#heard.join(' ').slice(0, textCharsMax) : '';
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
  next(): void {
    this.#before = this.text;
    this.#isAnswering = false;
    this.#texts = [];
    this.#heard = [];
    this.#hasHeardLine = false;
    this.#toolCalls = [];
    this.#hints = undefined;
    this.#count = 0;
  }

  /** Our line is said: whatever comes now answers it, even if it is what was said before. */
  lineIsSaid(): void {
    this.#isAnswering = true;
  }

  hear(message: CallMessage): void {
    if (message['type'] !== 'conversation_update' || this.#count >= updatesMax) return;
    this.#count += 1;
    const { transcript, tool_calls: tools, evaluation_metadata: hints } = message;
    if (Array.isArray(tools)) this.#tellsTools = true;
    const { agent, user } = isObject(transcript) ? transcript : {};
    if (typeof user === 'string' && user.trim() !== '') {
      this.#heard.push(user.slice(0, textCharsMax));
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
    const soFar = this.text;
    if (soFar !== '' && said.startsWith(soFar)) this.#texts = [said];
    else if (!soFar.endsWith(said)) this.#texts.push(said);
  }
}
