import { PathMeter, type AudioPacket, type Peer } from '../../src/voice/peer/index.ts';
import type { Clock } from '../../src/platform/clock.ts';
import type { CallOutcome } from './fleet-messages.ts';
import { TICKS_PER_MS, TIMESTAMP_JUMP_TICKS_MAX } from '../../src/voice/opus/frame.ts';

/** A packet that is this much later than the stream leaves an audible gap. */
const GAP_MS_MIN = 40;
const ROUND_TRIP_INTERVAL_MS = 1_000;

/** Learns of each sent and received packet, for the statistics per second. */
export interface MediaListener {
  onSent(lateMs: number): void;
  onReceived(isGap: boolean): void;
}

/** Measures the media of one call; the result covers the measured window. */
export class MediaStatistics {
  readonly #clock: Clock;
  readonly #listener: MediaListener;
  #meter: PathMeter | undefined;
  #last: AudioPacket | undefined;
  #sent = 0;
  #gaps = 0;
  #longestGapMs = 0;
  firstPacketAtMs: number | undefined;
  lastPacketAtMs = -Infinity;

  constructor(clock: Clock, listener: MediaListener) {
    this.#clock = clock;
    this.#listener = listener;
  }

  /** Starts the measured window. */
  begin(peer: Peer, signal: AbortSignal): void {
    this.#meter = new PathMeter(this.#clock);
    void this.#meter.measureRoundTrips(peer, signal, { intervalMs: ROUND_TRIP_INTERVAL_MS });
  }

  addSent(lateMs: number): void {
    if (this.#meter) this.#sent += 1;
    this.#listener.onSent(lateMs);
  }

  addPacket(packet: AudioPacket): void {
    this.firstPacketAtMs ??= packet.arrivedAtMs;
    this.lastPacketAtMs = packet.arrivedAtMs;
    const gapMs = this.#last ? measureGapMs(this.#last, packet) : 0;
    this.#last = packet;
    const isGap = gapMs > GAP_MS_MIN;
    this.#listener.onReceived(isGap);
    if (!this.#meter) return;
    this.#meter.addPacket(packet);
    if (isGap) this.#gaps += 1;
    this.#longestGapMs = Math.max(this.#longestGapMs, gapMs);
  }

  statistics(): Pick<
    CallOutcome,
    | 'pathMs'
    | 'jitterMs'
    | 'roundTripsMs'
    | 'sent'
    | 'received'
    | 'lost'
    | 'reordered'
    | 'gaps'
    | 'longestGapMs'
  > {
    const path = this.#meter?.statistics();
    const { latencyMs, transitP99Ms } = path ?? {};
    return {
      ...(latencyMs !== undefined && { pathMs: latencyMs }),
      ...(transitP99Ms !== undefined && { jitterMs: transitP99Ms }),
      roundTripsMs: [...(path?.roundTripsMs ?? [])],
      sent: this.#sent,
      received: path?.stream.packets ?? 0,
      lost: path?.stream.lost ?? 0,
      reordered: path?.stream.reordered ?? 0,
      gaps: this.#gaps,
      longestGapMs: Math.max(0, this.#longestGapMs),
    };
  }
}

/**
 * Returns how much longer the time between two arrivals was than the time between their timestamps.
 */
function measureGapMs(before: AudioPacket, packet: AudioPacket): number {
  const ticks = (packet.timestamp - before.timestamp) | 0;
  if (packet.ssrc !== before.ssrc || ticks <= 0 || ticks > TIMESTAMP_JUMP_TICKS_MAX) return 0;
  return packet.arrivedAtMs - before.arrivedAtMs - ticks / TICKS_PER_MS;
}
