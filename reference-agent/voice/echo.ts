import { silentFrame, FRAME_TICKS, TICKS_PER_MS } from '../../src/voice/opus/index.ts';
import type { AudioPacket } from '../../src/voice/peer/index.ts';
import type { CallFaults } from './call-faults.ts';
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

/** Sends every packet back unchanged: immediately, or delayed by the faults of the call. */
export class Echo implements Media {
  readonly #send: SendPacket;
  readonly #faults: CallFaults;
  readonly #delayed: DelayedPacket[] = [];
  #first: number | undefined;
  #lastDueMs = 0;
  #nextPollMs = 0;

  constructor(send: SendPacket, faults: CallFaults) {
    this.#send = send;
    this.#faults = faults;
  }

  get dueMs(): number {
    return this.#delayed[0]?.dueMs ?? (this.#faults.isLate ? this.#nextPollMs : Infinity);
  }

  hear({ payload: received, timestamp: at, arrivedAtMs }: AudioPacket): void {
    const { media, bufferedFrames, drawJitterMs, drawReplyDelayMs } = this.#faults;
    this.#first ??= at;
    const timestamp = (at - this.#first) >>> 0;
    const payload = media === 'silent' ? silentFrame : received;
    const waitMs =
      drawReplyDelayMs() + drawJitterMs() + (bufferedFrames * FRAME_TICKS) / TICKS_PER_MS;
    if (waitMs === 0) {
      this.#send(payload, timestamp);
    } else if (this.#delayed.length < DELAYED_PACKETS_MAX) {
      this.#lastDueMs = Math.max(this.#lastDueMs, arrivedAtMs + waitMs);
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
