import type { AudioPacket } from '../../src/voice/peer/index.ts';
import type { Media, SendPacket } from './media.ts';

interface DelayedPacket {
  dueMs: number;
  payload: Buffer;
  timestamp: number;
}

/** Further packets are dropped. */
const DELAYED_PACKETS_MAX = 5_000;

/** How often the echo checks for due packets, so that none is sent later than its fault says. */
const POLL_MS = 2;

/** Sends every packet back unchanged: immediately, or after the delay of a fault. */
export class Echo implements Media {
  readonly #send: SendPacket;
  readonly #drawDelayMs: (() => number) | undefined;
  readonly #delayed: DelayedPacket[] = [];
  #firstTimestamp: number | undefined;
  #lastDueMs = 0;
  #nextPollMs = 0;

  /** `drawDelayMs` draws the delay of the next packet; undefined if no packet is delayed. */
  constructor(send: SendPacket, drawDelayMs: (() => number) | undefined) {
    this.#send = send;
    this.#drawDelayMs = drawDelayMs;
  }

  get dueMs(): number {
    return this.#delayed[0]?.dueMs ?? (this.#drawDelayMs ? this.#nextPollMs : Infinity);
  }

  hear({ payload, timestamp: received, arrivedAtMs }: AudioPacket): void {
    this.#firstTimestamp ??= received;
    const timestamp = (received - this.#firstTimestamp) >>> 0;
    const delayMs = this.#drawDelayMs?.() ?? 0;
    if (delayMs === 0) {
      this.#send(payload, timestamp);
    } else if (this.#delayed.length < DELAYED_PACKETS_MAX) {
      this.#lastDueMs = Math.max(this.#lastDueMs, arrivedAtMs + delayMs);
      this.#delayed.push({ dueMs: this.#lastDueMs, payload, timestamp });
    }
  }

  runDue(nowMs: number): void {
    // Timers have a resolution of 1 ms.
    for (let next = this.#delayed[0]; next && next.dueMs < nowMs + 1; next = this.#delayed[0]) {
      this.#send(next.payload, next.timestamp);
      this.#delayed.shift();
    }
    this.#nextPollMs = nowMs + POLL_MS;
  }

  close(): void {
    this.#delayed.length = 0;
  }
}
