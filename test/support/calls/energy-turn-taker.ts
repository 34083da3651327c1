import { LATER_ANSWER_MS, TALK_OVER_MS, type TurnTakingHabits } from './turn-taking-agent.ts';

/** When the agent spoke, from its first to its last sample. */
export interface SpokenSpan {
  startMs: number;
  endMs: number;
}

/** -40 dB of full scale. */
const LOUD_RMS = 327;
const SAMPLES_PER_MS = 48;

/** Takes turns as simple voice agents do: by the energy of what it hears, and by how long it is quiet. */
export class EnergyTurnTaker {
  readonly spoken: SpokenSpan[] = [];
  readonly #habits: TurnTakingHabits;
  readonly #answer: Int16Array;
  readonly #onAnswer: () => void;
  #unspoken = new Int16Array(0);
  #isAnswering = false;
  #heardMs = -Infinity;
  #lineSinceMs: number | undefined;
  #answeringSinceMs = -Infinity;
  #hasTalkedOver = false;
  #hasAnswered = false;

  /** `answer` has samples of 48 kHz; `onAnswer` is called when the agent starts to say it. */
  constructor(habits: TurnTakingHabits, answer: Int16Array, onAnswer: () => void) {
    this.#habits = habits;
    this.#answer = answer;
    this.#onAnswer = onAnswer;
  }

  /** Hears 10 ms of the caller. */
  hear(samples: Int16Array, nowMs: number): void {
    const energy = samples.reduce((sum, sample) => sum + sample ** 2, 0);
    if (Math.sqrt(energy / samples.length) <= LOUD_RMS) return;
    this.#heardMs = nowMs;
    this.#lineSinceMs ??= nowMs;
  }

  /** Returns the next samples to say; fewer than `count` are followed by silence. */
  nextFrame(count: number, nowMs: number): Int16Array {
    this.#decide(nowMs);
    const frame = this.#unspoken.subarray(0, count);
    this.#unspoken = this.#unspoken.subarray(count);
    if (frame.length === 0) return frame;
    const last = this.spoken.at(-1);
    const endMs = nowMs + count / SAMPLES_PER_MS;
    if (last && nowMs - last.endMs < 200) last.endMs = endMs;
    else this.spoken.push({ startMs: nowMs, endMs });
    return frame;
  }

  #decide(nowMs: number): void {
    const { endpointMs, yieldMs = Infinity, talksOverAfterMs = Infinity } = this.#habits;
    if (this.#unspoken.length === 0) this.#isAnswering = false;
    const lineSinceMs = this.#lineSinceMs;
    if (lineSinceMs === undefined) return;
    const spokenMs = nowMs - lineSinceMs;
    if (this.#isAnswering) {
      if (spokenMs < yieldMs || lineSinceMs <= this.#answeringSinceMs) return;
      this.#say(0);
      this.#isAnswering = false;
    } else if (!this.#hasTalkedOver && spokenMs >= talksOverAfterMs) {
      this.#hasTalkedOver = true;
      this.#say(TALK_OVER_MS);
    } else if (nowMs - this.#heardMs >= endpointMs) {
      this.#say(this.#hasAnswered ? LATER_ANSWER_MS : Infinity);
      this.#isAnswering = true;
      this.#hasAnswered = true;
      this.#hasTalkedOver = false;
      this.#lineSinceMs = undefined;
      this.#answeringSinceMs = nowMs;
      this.#onAnswer();
    }
  }

  #say(ms: number): void {
    this.#unspoken = this.#answer.slice(0, Math.min(ms * SAMPLES_PER_MS, this.#answer.length));
  }
}
