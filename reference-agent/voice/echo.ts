import { silentFrame, ticksOfFrame } from '../../src/voice/opus/index.ts';
import type { AudioPacket } from '../../src/voice/peer/index.ts';
import type { CallFaults } from './call-faults.ts';
import type { Media, SendPacket } from './media.ts';

interface Held {
  dueMs: number;
  payload: Buffer;
  timestamp: number;
}

/** More packets than these are not held back; what comes then is lost. */
const heldMax = 5_000;

/** What is to be late is not to be later than that: so often it is looked at. */
const lookEveryMs = 2;

/** Sends every packet back as it came: at once, or as late as the faults of the call say. */
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
    const { media, heldFrames, jitterMs, replyWaitMs } = this.#faults;
    this.#first ??= at;
    const timestamp = (at - this.#first) >>> 0;
    const payload = media === 'silent' ? silentFrame : heard;
    const waitMs = replyWaitMs() + jitterMs() + (heldFrames * ticksOfFrame) / 48;
    if (waitMs === 0) {
      this.#send(payload, timestamp);
    } else if (this.#held.length < heldMax) {
      this.#lastDueMs = Math.max(this.#lastDueMs, arrivedAtMs + waitMs);
      this.#held.push({ dueMs: this.#lastDueMs, payload, timestamp });
    }
  }

  beat(nowMs: number): void {
    // What is due within a millisecond is due: no timer is finer.
    for (let held = this.#held[0]; held && held.dueMs < nowMs + 1; held = this.#held[0]) {
      this.#send(held.payload, held.timestamp);
      this.#held.shift();
    }
    this.#lookMs = nowMs + lookEveryMs;
  }

  close(): void {
    this.#held.length = 0;
  }
}
