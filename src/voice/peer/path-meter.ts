import { findPercentile } from '../../platform/percentile.ts';
import {
  computePathLatencyMs,
  ReceivedStream,
  type PathComponents,
  type StreamStatistics,
} from '../latency/index.ts';
import type { Clock } from '../../platform/clock.ts';
import { countPacketTicks, TICKS_PER_MS } from '../opus/index.ts';
import type { AudioPacket, Peer } from './peer.ts';

/** The measured network path; a value that could not be measured is undefined. */
export interface PathStatistics extends Partial<PathComponents> {
  /** The result of `computePathLatencyMs`; undefined while one of the components is. */
  latencyMs: number | undefined;
  /**
   * Measured round trips in milliseconds, oldest first, and the number of requests without a
   * response.
   */
  roundTripsMs: readonly number[];
  unanswered: number;
  stream: StreamStatistics;
}

/** How often the round trip is measured. */
export interface RoundTripOptions {
  /** Pause between a response and the next request (default: 500 ms). */
  intervalMs?: number;
  /** Number of measurements (maximum: 10,000). */
  count?: number;
}

const ROUND_TRIP_INTERVAL_MS = 500;
const ROUND_TRIPS_MAX = 10_000;

/** Fewer round trips have no meaningful 95th percentile, fewer packets no 99th. */
const ROUND_TRIPS_MIN = 3;
const PACKETS_MIN = 50;

/** Measures the network path of one call while it lasts. */
export class PathMeter {
  readonly #clock: Clock;
  readonly #stream = new ReceivedStream();
  readonly #roundTripsMs: number[] = [];
  readonly #packetTicks = new Map<number, number>();
  #unanswered = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Must be called for each packet that the peer receives. */
  addPacket(packet: AudioPacket): void {
    this.#stream.add(packet);
    const ticks = countPacketTicks(packet.payload);
    if (ticks === undefined) return;
    this.#packetTicks.set(ticks, (this.#packetTicks.get(ticks) ?? 0) + 1);
  }

  /** Measures the round trip repeatedly, until `count` is reached or the signal aborts. */
  async measureRoundTrips(
    peer: Peer,
    signal: AbortSignal,
    options: RoundTripOptions = {},
  ): Promise<void> {
    const { intervalMs = ROUND_TRIP_INTERVAL_MS, count = ROUND_TRIPS_MAX } = options;
    for (let nth = 0; nth < Math.min(count, ROUND_TRIPS_MAX) && !signal.aborted; nth += 1) {
      const ms = await peer.measureRoundTripMs();
      if (ms === undefined) this.#unanswered += 1;
      else this.#roundTripsMs.push(ms);
      await this.#clock.sleep(intervalMs, signal).catch(() => undefined);
    }
  }

  statistics(): PathStatistics {
    const stream = this.#stream.statistics();
    const roundTripP95Ms =
      this.#roundTripsMs.length < ROUND_TRIPS_MIN
        ? undefined
        : findPercentile(this.#roundTripsMs, 95);
    // The most frequent duration, so that a single odd packet does not count.
    const [mostFrequent] = [...this.#packetTicks].sort(([, a], [, b]) => b - a);
    const packetMs = mostFrequent && mostFrequent[0] / TICKS_PER_MS;
    const transitP99Ms = stream.packets < PACKETS_MIN ? undefined : stream.transitP99Ms;
    const parts = {
      ...(roundTripP95Ms !== undefined && { roundTripP95Ms }),
      ...(packetMs !== undefined && { packetMs }),
      ...(transitP99Ms !== undefined && { transitP99Ms }),
    };
    return {
      ...parts,
      latencyMs: isComplete(parts) ? computePathLatencyMs(parts) : undefined,
      roundTripsMs: this.#roundTripsMs,
      unanswered: this.#unanswered,
      stream,
    };
  }
}

function isComplete(parts: Partial<PathComponents>): parts is PathComponents {
  const { roundTripP95Ms, packetMs, transitP99Ms } = parts;
  return [roundTripP95Ms, packetMs, transitP99Ms].every((part) => part !== undefined);
}
