import { findPercentile } from './percentile.ts';
import { measureTransitDelays, type Transit } from './packet-transit.ts';

/** The header fields and arrival time of an audio packet. */
export interface Arrival {
  /** 0 to 65535. */
  sequence: number;
  /** In ticks of 1/48000 s, modulo 2^32. */
  timestamp: number;
  ssrc: number;
  /** On a monotonic clock, in milliseconds. */
  arrivedAtMs: number;
}

/** Statistics of a received stream; times in milliseconds, undefined if too few packets arrived. */
export interface StreamStatistics {
  /** Without duplicates. */
  packets: number;
  /** Packets missing between the first and the last one that arrived. */
  lost: number;
  /** Packets that arrived after one that was sent later. */
  reordered: number;
  /** Depth of the jitter buffer at which 1% of the packets arrive too late. */
  transitP99Ms: number | undefined;
  /** Time between two packets: 99th percentile and maximum. */
  intervalP99Ms: number | undefined;
  intervalMaxMs: number | undefined;
}

/** A timestamp that jumps by more than this starts a new segment: 10 s. */
const TIMESTAMP_JUMP_TICKS_MAX = 480_000;

/** More than an hour of packets of 20 ms; later packets are ignored. */
const PACKETS_MAX = 200_000;

const TICKS_PER_MS = 48;

interface Kept extends Transit {
  /** The sequence number, continued beyond 65535. */
  number: number;
}

/** Records the arrival of each packet of a call, and computes statistics at the end. */
export class ReceivedStream {
  /** Segments from one sender without timestamp jumps. */
  readonly #stretches: Kept[][] = [];
  #last: Arrival | undefined;
  #mediaMs = 0;
  #number = 0;
  #kept = 0;

  add(arrival: Arrival): void {
    if (this.#kept >= PACKETS_MAX) return;
    this.#kept += 1;
    const { sequence, timestamp, ssrc, arrivedAtMs } = arrival;
    const last = this.#last;
    const moved = last ? (timestamp - last.timestamp) | 0 : 0;
    if (last?.ssrc !== ssrc || Math.abs(moved) > TIMESTAMP_JUMP_TICKS_MAX) {
      this.#stretches.push([]);
      [this.#mediaMs, this.#number] = [0, 0];
    } else {
      this.#mediaMs += moved / TICKS_PER_MS;
      this.#number += ((sequence - last.sequence) << 16) >> 16;
    }
    this.#last = { sequence, timestamp, ssrc, arrivedAtMs };
    const kept = { mediaMs: this.#mediaMs, number: this.#number, arrivedAtMs };
    this.#stretches.at(-1)?.push(kept);
  }

  statistics(): StreamStatistics {
    const stretches = this.#stretches.map(withoutDoubles);
    const intervals = stretches.flatMap((packets) =>
      packets.slice(1).map((packet, nth) => packet.arrivedAtMs - (packets[nth]?.arrivedAtMs ?? 0)),
    );
    const all = stretches.flatMap(measureTransitDelays);
    return {
      packets: all.length,
      lost: sum(stretches.map((packets) => spanOf(packets) - packets.length)),
      reordered: sum(stretches.map(reorderedIn)),
      transitP99Ms: findPercentile(all, 99),
      intervalP99Ms: findPercentile(intervals, 99),
      intervalMaxMs: findPercentile(intervals, 100),
    };
  }
}

function withoutDoubles(packets: readonly Kept[]): Kept[] {
  const seen = new Set<number>();
  return packets.filter(({ number }) => !seen.has(number) && seen.add(number));
}

/** Returns how many packets were sent between the first and the last one that arrived. */
function spanOf(packets: readonly Kept[]): number {
  let [least, most] = [Infinity, -Infinity];
  for (const { number } of packets)
    [least, most] = [Math.min(least, number), Math.max(most, number)];
  return packets.length === 0 ? 0 : most - least + 1;
}

function reorderedIn(packets: readonly Kept[]): number {
  let most = -Infinity;
  let reordered = 0;
  for (const { number } of packets) {
    if (number < most) reordered += 1;
    most = Math.max(most, number);
  }
  return reordered;
}

const sum = (values: readonly number[]): number => values.reduce((one, other) => one + other, 0);
