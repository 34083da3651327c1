import { silentFrame, FRAME_TICKS } from '../../src/voice/opus/index.ts';
import type { AudioPacket } from '../../src/voice/peer/index.ts';
import type { CallFaults } from './call-faults.ts';
import type { Media, SendPacket } from './media.ts';

interface Held {
  dueMs: number;
  payload: Buffer;
  timestamp: number;
}

/** Further packets are dropped. */
const DELAYED_PACKETS_MAX = 5_000;

/** How often the echo checks for due packets, so that none is sent later than its fault says. */
const POLL_MS = 2;

/** Sends every packet back unchanged: immediately, or as late as the faults of the call say. */
export class Echo implements Media {
  readonly #send: SendPacket;
  readonly #faults: CallFaults;
  readonly #held: Held[] = [];
  #first: number | undefined;
  #lastDueMs = 0;
  #lookMs = 0;

  constructor(send: SendPacket, faults: CallFaults) {
    this.#send = send;
    this.#faults = faults;
  }

  get dueMs(): number {
    return this.#held[0]?.dueMs ?? (this.#faults.isLate ? this.#lookMs : Infinity);
  }

  hear({ payload: heard, timestamp: at, arrivedAtMs }: AudioPacket): void {
    const { media, bufferedFrames, drawJitterMs, drawReplyDelayMs } = this.#faults;
    this.#first ??= at;
    const timestamp = (at - this.#first) >>> 0;
    const payload = media === 'silent' ? silentFrame : heard;
    const waitMs = drawReplyDelayMs() + drawJitterMs() + (bufferedFrames * FRAME_TICKS) / 48;
    if (waitMs === 0) {
      this.#send(payload, timestamp);
    } else if (this.#held.length < DELAYED_PACKETS_MAX) {
      this.#lastDueMs = Math.max(this.#lastDueMs, arrivedAtMs + waitMs);
      this.#held.push({ dueMs: this.#lastDueMs, payload, timestamp });
    }
  }

  runDue(nowMs: number): void {
    // Timers have a resolution of 1 ms.
    for (let held = this.#held[0]; held && held.dueMs < nowMs + 1; held = this.#held[0]) {
      this.#send(held.payload, held.timestamp);
      this.#held.shift();
    }
    this.#lookMs = nowMs + POLL_MS;
  }

  close(): void {
    this.#held.length = 0;
  }
}
