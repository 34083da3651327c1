import { findPercentile } from '../../platform/percentile.ts';
import { measureTransitDelays, type Transit } from './packet-transit.ts';
import { TICKS_PER_MS, TIMESTAMP_JUMP_TICKS_MAX } from '../opus/frame.ts';

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
  /** The longest time between two packets. */
  intervalMaxMs: number | undefined;
}

/** More than an hour of packets of 20 ms; later packets are ignored. */
const PACKETS_MAX = 200_000;

interface NumberedTransit extends Transit {
  /** The sequence number, continued beyond 65535. */
  number: number;
}

/**
 * Packets from one sender without timestamp jumps, in order of arrival. A list for each field needs
 * much less memory than an object for each packet.
 */
interface Segment {
  mediaMs: number[];
  numbers: number[];
  arrivedAtMs: number[];
}

/** Records the arrival of each packet of a call, and computes statistics at the end. */
export class ReceivedStream {
  readonly #segments: Segment[] = [];
  #last: Arrival | undefined;
  #mediaMs = 0;
  #number = 0;
  #packets = 0;

  add(arrival: Arrival): void {
    if (this.#packets >= PACKETS_MAX) return;
    this.#packets += 1;
    const { sequence, timestamp, ssrc, arrivedAtMs } = arrival;
    const last = this.#last;
    const elapsedTicks = last ? (timestamp - last.timestamp) | 0 : 0;
    if (last?.ssrc !== ssrc || Math.abs(elapsedTicks) > TIMESTAMP_JUMP_TICKS_MAX) {
      this.#segments.push({ mediaMs: [], numbers: [], arrivedAtMs: [] });
      [this.#mediaMs, this.#number] = [0, 0];
    } else {
      this.#mediaMs += elapsedTicks / TICKS_PER_MS;
      this.#number += ((sequence - last.sequence) << 16) >> 16;
    }
    this.#last = { sequence, timestamp, ssrc, arrivedAtMs };
    const segment = this.#segments.at(-1);
    segment?.mediaMs.push(this.#mediaMs);
    segment?.numbers.push(this.#number);
    segment?.arrivedAtMs.push(arrivedAtMs);
  }

  statistics(): StreamStatistics {
    const segments = this.#segments.map(listPackets).map(removeDuplicates);
    const intervals = segments.flatMap((packets) =>
      packets.slice(1).map((packet, nth) => packet.arrivedAtMs - (packets[nth]?.arrivedAtMs ?? 0)),
    );
    const delaysMs = segments.flatMap(measureTransitDelays);
    return {
      packets: delaysMs.length,
      lost: sum(segments.map((packets) => countSent(packets) - packets.length)),
      reordered: sum(segments.map(countReordered)),
      transitP99Ms: findPercentile(delaysMs, 99),
      intervalMaxMs: findPercentile(intervals, 100),
    };
  }
}

function listPackets({ mediaMs, numbers, arrivedAtMs }: Segment): NumberedTransit[] {
  return numbers.map((number, nth) => ({
    number,
    mediaMs: mediaMs[nth] ?? NaN,
    arrivedAtMs: arrivedAtMs[nth] ?? NaN,
  }));
}

function removeDuplicates(packets: readonly NumberedTransit[]): NumberedTransit[] {
  const seen = new Set<number>();
  return packets.filter(({ number }) => !seen.has(number) && seen.add(number));
}

/** Returns how many packets were sent between the first and the last one that arrived. */
function countSent(packets: readonly NumberedTransit[]): number {
  let [first, last] = [Infinity, -Infinity];
  for (const { number } of packets)
    [first, last] = [Math.min(first, number), Math.max(last, number)];
  return packets.length === 0 ? 0 : last - first + 1;
}

function countReordered(packets: readonly NumberedTransit[]): number {
  let highest = -Infinity;
  let reordered = 0;
  for (const { number } of packets) {
    if (number < highest) reordered += 1;
    highest = Math.max(highest, number);
  }
  return reordered;
}

const sum = (values: readonly number[]): number =>
  values.reduce((total, value) => total + value, 0);
