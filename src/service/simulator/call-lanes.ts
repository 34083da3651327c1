import type { TurnTaking } from '../../contract/index.ts';
import type { Clock } from '../../platform/clock.ts';
import type { LevelWindow } from '../../voice/activity/index.ts';
import type { SpeechSpan } from '../../voice/call/index.ts';
import { explainLocalDelay, monitorLocalDelay } from '../../voice/latency/index.ts';
import {
  AgentLaneRecorder,
  measureTurnTaking,
  type LanePacket,
  type Utterance,
} from '../../voice/turn-taking/index.ts';

/** Records both sides of a call while it lasts, and measures how they took turns. */
export class CallLaneRecorder {
  readonly #clock: Clock;
  readonly #agent = new AgentLaneRecorder();
  readonly #caller: Utterance[] = [];
  readonly #notReady: SpeechSpan[] = [];
  readonly #stopMonitor = monitorLocalDelay();
  #originMs = Infinity;
  #missedGreeting: SpeechSpan | undefined;
  #measured: TurnTaking | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Notes that a packet left or arrived. The first one is the start of the recording. */
  notePacket(atMs: number): void {
    this.#originMs = Math.min(this.#originMs, atMs);
  }

  /** Adds a packet of the agent with its levels, in order of arrival. */
  addReceived(packet: LanePacket, windows: readonly LevelWindow[]): void {
    this.notePacket(packet.arrivedAtMs);
    this.#agent.add(packet, windows);
  }

  addUtterance(utterance: Utterance): void {
    this.#caller.push(utterance);
  }

  /**
   * Runs what the caller does before it can speak, which it has prepared since `sinceMs`; silence
   * meanwhile is not dead air.
   */
  async prepare<Result>(
    sinceMs: number | undefined,
    work: () => Promise<Result>,
  ): Promise<Result> {
    const startMs = sinceMs ?? this.#clock.monotonicMs();
    try {
      return await work();
    } finally {
      this.#notReady.push({ startMs, endMs: this.#clock.monotonicMs() });
    }
  }

  missGreeting(waited: SpeechSpan): void {
    this.#missedGreeting = waited;
  }

  /** Measures the call when it has ended; undefined if no packet left or arrived. */
  finish(): void {
    const localDelay = explainLocalDelay(this.#stopMonitor());
    if (this.#originMs === Infinity) return;
    this.#measured = measureTurnTaking({
      originMs: this.#originMs,
      agent: this.#agent.lane(),
      caller: this.#caller.toSorted((left, right) => left.startMs - right.startMs),
      notReady: this.#notReady,
      missedGreeting: this.#missedGreeting,
      endMs: this.#clock.monotonicMs(),
      localDelay,
    });
  }

  /** How the two sides took turns; undefined until the call has ended. */
  get turnTaking(): TurnTaking | undefined {
    return this.#measured;
  }
}
