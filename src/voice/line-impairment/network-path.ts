import type { CallNetwork } from '../../contract/index.ts';
import type { Random } from '../../platform/random.ts';

/** How long a packet takes, in milliseconds, or where it was lost. */
export type PacketDelivery = { delayMs: number } | { lost: 'on the way' | 'in the queue' };

/** What a packet carries besides its payload: the headers of IPv4, UDP, and RTP, and the SRTP tag. */
export const PACKET_OVERHEAD_BYTES = 20 + 8 + 12 + 16;

/** A packet that would wait longer for the bandwidth is dropped, as in the buffer of a router. */
export const QUEUE_MS_MAX = 250;

const BITS_PER_BYTE = 8;

/**
 * A bad network in one direction. It decides what happens to each packet, and reads no clock: the same
 * random source and the same packets give the same result.
 *
 * - Bandwidth: packets leave one after another, and wait in a queue of at most 250 ms.
 * - Loss: a Gilbert-Elliott model with two states. All packets of the bad state are lost, which lasts
 *   `burst` packets on average. Without `burst`, each packet is lost independently.
 * - Jitter: each packet is late by 0 to `jitter_ms`, evenly distributed, so a packet can overtake the
 *   one before it.
 */
export class NetworkPath {
  readonly #conditions: CallNetwork;
  readonly #random: Random;
  /** The probabilities of changing from the good to the bad state, and of staying in it. */
  readonly #becomesBad: number;
  readonly #staysBad: number;
  #isBad: boolean;
  #queueIsFreeAtMs = -Infinity;

  constructor(conditions: CallNetwork, random: Random) {
    this.#conditions = conditions;
    this.#random = random;
    const loss = (conditions.loss_pct ?? 0) / 100;
    this.#staysBad = conditions.burst === undefined ? loss : 1 - 1 / conditions.burst;
    this.#becomesBad = Math.min(1, ((1 - this.#staysBad) * loss) / (1 - loss));
    this.#isBad = random.fraction() < loss;
  }

  /** Decides about the next packet. `sentMs` is in milliseconds from any origin, and never decreases. */
  deliver(sentMs: number, payloadBytes: number): PacketDelivery {
    const jitterMs = this.#drawJitterMs();
    const isLost = this.#drawLoss();
    const queueMs = this.#queue(sentMs, payloadBytes);
    if (queueMs === undefined) return { lost: 'in the queue' };
    return isLost ? { lost: 'on the way' } : { delayMs: queueMs + jitterMs };
  }

  #drawJitterMs(): number {
    const { jitter_ms: jitterMs = 0 } = this.#conditions;
    return jitterMs === 0 ? 0 : this.#random.fraction() * jitterMs;
  }

  /** Whether this packet is lost; draws the state of the next one. */
  #drawLoss(): boolean {
    const isLost = this.#isBad;
    if (this.#becomesBad > 0)
      this.#isBad = this.#random.fraction() < (isLost ? this.#staysBad : this.#becomesBad);
    return isLost;
  }

  /** Returns how long a packet takes to leave; undefined if the queue is full. */
  #queue(sentMs: number, payloadBytes: number): number | undefined {
    const { bandwidth_kbps: bitsPerMs } = this.#conditions;
    if (bitsPerMs === undefined) return 0;
    const startMs = Math.max(sentMs, this.#queueIsFreeAtMs);
    if (startMs - sentMs > QUEUE_MS_MAX) return undefined;
    const bits = (payloadBytes + PACKET_OVERHEAD_BYTES) * BITS_PER_BYTE;
    this.#queueIsFreeAtMs = startMs + bits / bitsPerMs;
    return this.#queueIsFreeAtMs - sentMs;
  }
}
