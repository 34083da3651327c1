import type { Clock } from '../../platform/clock.ts';
import type { PacedTask, Pacer } from '../../platform/pacer.ts';
import type { LineImpairment } from '../line-impairment/index.ts';
import type { Peer } from '../peer/index.ts';

interface DelayedPacket {
  dueMs: number;
  nth: number;
  payload: Buffer;
}

/** More packets than a queue and the largest jitter can hold; further ones are dropped. */
const DELAYED_PACKETS_MAX = 500;

/** Timers have a resolution of 1 ms. */
const GRAIN_MS = 1;

export interface ImpairedLineOptions {
  peer: Peer;
  clock: Clock;
  pacer: Pacer;
  impairment: LineImpairment;
}

/** Sends the frames of a microphone over a bad line: later, out of order, or not at all. */
export class ImpairedLine implements PacedTask {
  readonly #options: ImpairedLineOptions;
  /** Ordered by due time. */
  readonly #delayed: DelayedPacket[] = [];
  #isAdded = false;
  #isStopped = false;

  constructor(options: ImpairedLineOptions) {
    this.#options = options;
  }

  get dueMs(): number {
    return this.#delayed[0]?.dueMs ?? Infinity;
  }

  /** How much later a sound leaves the line than the microphone, in milliseconds. */
  get delayMs(): number {
    return this.#options.impairment.delayMs;
  }

  /** The caller starts to speak, or stops. */
  beginSection(): void {
    this.#options.impairment.beginSection();
  }

  /**
   * Sends the frame with this number, which was due at `dueMs`. Returns the packet as it entered the
   * network; undefined if the peer is not connected.
   */
  send(nth: number, frame: Buffer, dueMs: number): Buffer | undefined {
    const { peer, pacer, impairment } = this.#options;
    if (this.#isStopped || peer.state !== 'connected') return undefined;
    const { payload, delivery } = impairment.impair(frame);
    if ('delayMs' in delivery) this.#schedule({ dueMs: dueMs + delivery.delayMs, nth, payload });
    // Added after the microphone, so that the pacer asks for the new due time in the same round.
    if (!this.#isAdded) pacer.add(this);
    this.#isAdded = true;
    return payload;
  }

  runDue(nowMs: number): void {
    for (
      let next = this.#delayed[0];
      next && next.dueMs < nowMs + GRAIN_MS;
      next = this.#delayed[0]
    ) {
      this.#options.peer.sendFrame(next.nth, next.payload);
      this.#delayed.shift();
    }
  }

  /** Stops; packets that are still on their way are dropped. */
  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#options.pacer.remove(this);
    this.#delayed.length = 0;
    this.#options.impairment.close();
  }

  #schedule(packet: DelayedPacket): void {
    if (this.#delayed.length >= DELAYED_PACKETS_MAX) return;
    const later = this.#delayed.findLastIndex(({ dueMs }) => dueMs <= packet.dueMs);
    this.#delayed.splice(later + 1, 0, packet);
  }
}
