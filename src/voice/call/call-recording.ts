import { FRAME_TICKS, countPacketTicks } from '../opus/index.ts';
import type { AudioPacket } from '../peer/index.ts';

/** The recorded audio of a call. */
export interface CallAudio {
  /** The packets of the agent in stream order; a missing packet is an empty buffer. */
  agent: readonly Buffer[];
  /** The packets of the user, whom the kit plays. */
  user: readonly Buffer[];
  /** When the first packet of each side was received or sent, on the monotonic clock. */
  startMs: { agent?: number; user?: number };
}

type RecordedPacket = Pick<AudioPacket, 'timestamp' | 'payload' | 'ssrc' | 'arrivedAtMs'>;

const PACKETS_MAX = 20_000;

/** Records the audio of a call, up to several minutes. */
export class CallRecording {
  readonly #received: RecordedPacket[] = [];
  readonly #sent: Buffer[] = [];
  #firstSentMs: number | undefined;

  addReceived({ timestamp, payload, ssrc, arrivedAtMs }: RecordedPacket): void {
    if (this.#received.length >= PACKETS_MAX) return;
    this.#received.push({ timestamp, payload, ssrc, arrivedAtMs });
  }

  addSent(payload: Buffer, atMs: number): void {
    this.#firstSentMs ??= atMs;
    if (this.#sent.length < PACKETS_MAX) this.#sent.push(payload);
  }

  /**
   * Returns the packets of the agent that arrived within a time on the monotonic clock, in stream order;
   * a missing packet is an empty buffer.
   */
  receivedBetween(fromMs: number, toMs: number): Buffer[] {
    return orderByTime(
      this.#received.filter(({ arrivedAtMs }) => arrivedAtMs >= fromMs && arrivedAtMs <= toMs),
    );
  }

  audio(): CallAudio {
    const [first] = this.#received;
    const startMs = {
      ...(first && { agent: first.arrivedAtMs }),
      ...(this.#firstSentMs !== undefined && { user: this.#firstSentMs }),
    };
    return { agent: orderByTime(this.#received), user: this.#sent, startMs };
  }
}

/**
 * Returns the packets of one stream in order of their timestamps, with an empty packet for each
 * missing 20 ms.
 */
function orderByTime(packets: readonly RecordedPacket[]): Buffer[] {
  const [first] = packets;
  if (!first) return [];
  const ticksOf = ({ timestamp }: { timestamp: number }): number =>
    (timestamp - first.timestamp) | 0;
  const ownPackets = packets.filter(({ ssrc }) => ssrc === first.ssrc);
  const frames: Buffer[] = [];
  let endTicks = 0;
  for (const packet of ownPackets.sort((a, b) => ticksOf(a) - ticksOf(b))) {
    const missing = Math.floor((ticksOf(packet) - endTicks) / FRAME_TICKS);
    for (let nth = 0; nth < missing && frames.length < PACKETS_MAX; nth += 1) {
      frames.push(Buffer.alloc(0));
    }
    if (frames.length < PACKETS_MAX) frames.push(packet.payload);
    endTicks = ticksOf(packet) + (countPacketTicks(packet.payload) ?? FRAME_TICKS);
  }
  return frames;
}
