import type { TurnTaking } from '../../../contract/index.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { LevelWindow } from '../../../voice/activity/index.ts';
import type { SpeechSpan } from '../../../voice/speech-span.ts';
import { findPercentile } from '../../../platform/percentile.ts';
import {
  explainLocalDelay,
  monitorLocalDelay,
  type LocalDelay,
} from '../../../voice/latency/index.ts';
import {
  AgentLaneRecorder,
  measureTurnTaking,
  type LanePacket,
  type Utterance,
} from '../../../voice/turn-taking/index.ts';

/** The lateness of more sent packets than this is not kept: 20 minutes. */
const SENT_MAX = 60_000;

/** How the two sides of a call took turns. */
export interface MeasuredLanes {
  turnTaking: TurnTaking;
  /** When the agent could be heard, on the monotonic clock. */
  agentSpeech: readonly SpeechSpan[];
}

/** Records both sides of a call while it lasts, and measures how they took turns. */
export class CallLaneRecorder {
  readonly #clock: Clock;
  readonly #agent = new AgentLaneRecorder();
  readonly #caller: Utterance[] = [];
  readonly #notReady: SpeechSpan[] = [];
  readonly #sentLateMs: number[] = [];
  #stopMonitor: (() => LocalDelay) | undefined;
  #originMs = Infinity;
  #missedGreeting: SpeechSpan | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Starts when media can flow: what happens before that delays no packet. */
  start(): void {
    this.#stopMonitor = monitorLocalDelay();
  }

  /** Notes that a packet left, and how late. */
  noteSent(atMs: number, lateMs: number): void {
    this.#noteStart(atMs);
    if (this.#sentLateMs.length < SENT_MAX) this.#sentLateMs.push(lateMs);
  }

  /** The first packet of either side is the start of the recording. */
  #noteStart(atMs: number): void {
    this.#originMs = Math.min(this.#originMs, atMs);
  }

  /** Adds a packet of the agent with its levels, in order of arrival. */
  addReceived(packet: LanePacket, windows: readonly LevelWindow[]): void {
    this.#noteStart(packet.arrivedAtMs);
    this.#agent.add(packet, windows);
  }

  addUtterance(utterance: Utterance): void {
    this.#caller.push(utterance);
  }

  /**
   * Runs what the caller does before it can speak, which it has prepared since `sinceMs`; silence
   * meanwhile is not dead air.
   */
  async prepare<Result>(sinceMs: number | undefined, work: () => Promise<Result>): Promise<Result> {
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

  /** Measures the call when it has ended; undefined if no packet was exchanged. */
  finish(): MeasuredLanes | undefined {
    const delay = this.#stopMonitor?.();
    if (!delay || this.#originMs === Infinity) return undefined;
    const sendLateP99Ms = findPercentile(this.#sentLateMs, 99);
    const reason = explainLocalDelay({ ...delay, sendLateP99Ms });
    const lateMs = Math.max(delay.loopLateMaxMs, findPercentile(this.#sentLateMs, 100) ?? 0);
    const agent = this.#agent.lane();
    const turnTaking = measureTurnTaking({
      originMs: this.#originMs,
      agent,
      caller: this.#caller.toSorted((left, right) => left.startMs - right.startMs),
      notReady: this.#notReady,
      missedGreeting: this.#missedGreeting,
      endMs: this.#clock.monotonicMs(),
      localDelay: reason === undefined ? undefined : { reason, lateMs },
    });
    return { agentSpeech: agent.speech, turnTaking };
  }
}
