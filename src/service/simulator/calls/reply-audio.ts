import type { TurnTaking } from '../../../contract/index.ts';
import type { CallRecording } from '../../../voice/call/index.ts';
import type { SpeechSpan } from '../../../voice/speech-span.ts';

/** Sound before and after the audible part of a reply. */
const EDGE_MS = 200;

/** The audio of the agent in a call, by the turns of its transcript. */
export class ReplyAudio {
  readonly #recording: Pick<CallRecording, 'receivedBetween'>;
  /** By turn. */
  readonly #starts = new Map<number, number>();
  #spans = new Map<number, SpeechSpan>();
  /** The turns whose audio can't be told apart. */
  #mixed = new Set<number>();
  /** The turns whose reply the user interrupted without a text of what was said. */
  #interrupted = new Set<number>();

  constructor(recording: Pick<CallRecording, 'receivedBetween'>) {
    this.#recording = recording;
  }

  /** Notes from when on the agent's audio belongs to a turn, on the monotonic clock. */
  begin(turn: number, atMs: number): void {
    this.#starts.set(turn, atMs);
  }

  /** Assigns what the agent said to the turns, when the call has ended. */
  finish(
    speech: readonly SpeechSpan[],
    { interruptions }: Pick<TurnTaking, 'interruptions'>,
  ): void {
    for (const { turn, yield_ms: yieldMs, corrected = false } of interruptions) {
      if (!corrected) this.#interrupted.add(turn - 1);
      // An agent that goes on speaks two replies at a time.
      if (yieldMs === null) this.#mixed.add(turn - 1).add(turn);
      else this.#starts.set(turn, (this.#starts.get(turn) ?? 0) + yieldMs + 1);
    }
    const starts = [...this.#starts].toSorted(([, a], [, b]) => a - b);
    for (const { startMs, endMs } of speech) {
      const [turn] = starts.findLast(([, fromMs]) => fromMs <= startMs) ?? [];
      if (turn === undefined) continue;
      const first = this.#spans.get(turn) ?? { startMs, endMs };
      this.#spans.set(turn, { startMs: first.startMs, endMs: Math.max(first.endMs, endMs) });
    }
  }

  /** Whether the audio and the text of a turn can be compared. */
  isComparable(turn: number): boolean {
    return !this.#mixed.has(turn) && !this.#interrupted.has(turn);
  }

  /** Returns the packets of a reply; none if it was not audible. */
  packetsOf(turn: number): Buffer[] {
    const span = this.#spans.get(turn);
    return span
      ? this.#recording.receivedBetween(span.startMs - EDGE_MS, span.endMs + EDGE_MS)
      : [];
  }
}
