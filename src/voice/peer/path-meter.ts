import {
  audioPathLatencyMs,
  percentileOf,
  ReceivedStream,
  type AudioPath,
  type StreamFigures,
} from '../latency/index.ts';
import type { Clock } from '../../platform/clock.ts';
import { ticksOfPacket } from '../opus/index.ts';
import type { AudioPacket, Peer } from './peer.ts';

/** What was measured of the way of the audio. What could not be is undefined. */
export interface PathFigures extends Partial<AudioPath> {
  /** `audioPathLatencyMs` of the three; undefined while one of them is. */
  latencyMs: number | undefined;
  /** Round trips that were measured, in milliseconds, oldest first, and those without an answer. */
  roundTripsMs: readonly number[];
  unanswered: number;
  stream: StreamFigures;
}

/** How often the round trip is asked for. */
export interface Asking {
  /** 500 ms between an answer and the next question. */
  everyMs?: number;
  /** 10 000 at most. */
  times?: number;
}

const askEveryMs = 500;
const roundTripsMax = 10_000;

/** Fewer round trips have no 95th percentile to speak of, fewer packets no 99th. */
const roundTripsMin = 3;
const packetsMin = 50;

/** Measures the way of the audio of one call while it lasts. */
export class PathMeter {
  readonly #clock: Clock;
  readonly #stream = new ReceivedStream();
  readonly #roundTripsMs: number[] = [];
  readonly #packetTicks = new Map<number, number>();
  #unanswered = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** To be given each packet that the peer gets. */
  hear(packet: AudioPacket): void {
    this.#stream.add(packet);
    const ticks = ticksOfPacket(packet.payload);
    if (ticks === undefined) return;
    this.#packetTicks.set(ticks, (this.#packetTicks.get(ticks) ?? 0) + 1);
  }

  /** Asks for the round trip now and then, until it was asked for so often or the signal aborts. */
  async ask(peer: Peer, signal: AbortSignal, asking: Asking = {}): Promise<void> {
    const { everyMs = askEveryMs, times = roundTripsMax } = asking;
    for (let nth = 0; nth < Math.min(times, roundTripsMax) && !signal.aborted; nth += 1) {
      const ms = await peer.roundTripMs();
      if (ms === undefined) this.#unanswered += 1;
      else this.#roundTripsMs.push(ms);
      await this.#clock.sleep(everyMs, signal).catch(() => undefined);
    }
  }

  figures(): PathFigures {
    const stream = this.#stream.figures();
    const roundTripP95Ms =
      this.#roundTripsMs.length < roundTripsMin ? undefined : percentileOf(this.#roundTripsMs, 95);
    // The usual length, and not the longest: one odd packet is not what is waited for.
    const [usual] = [...this.#packetTicks].sort(([, one], [, other]) => other - one);
    const packetMs = usual && usual[0] / 48;
    const transitP99Ms = stream.packets < packetsMin ? undefined : stream.transitP99Ms;
    const parts = {
      ...(roundTripP95Ms !== undefined && { roundTripP95Ms }),
      ...(packetMs !== undefined && { packetMs }),
      ...(transitP99Ms !== undefined && { transitP99Ms }),
    };
    return {
      ...parts,
      latencyMs: isWhole(parts) ? audioPathLatencyMs(parts) : undefined,
      roundTripsMs: this.#roundTripsMs,
      unanswered: this.#unanswered,
      stream,
    };
  }
}

function isWhole(parts: Partial<AudioPath>): parts is AudioPath {
  const { roundTripP95Ms, packetMs, transitP99Ms } = parts;
  return [roundTripP95Ms, packetMs, transitP99Ms].every((part) => part !== undefined);
}
