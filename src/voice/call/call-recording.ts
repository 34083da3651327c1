import { measureTransitDelays } from '../latency/index.ts';
import {
  FRAME_MS,
  FRAME_TICKS,
  SILENT_PACKET_BYTES_MAX,
  TICKS_PER_MS,
  countPacketTicks,
} from '../opus/index.ts';
import type { AudioPacket } from '../peer/index.ts';

/** The recorded audio of a call. */
export interface CallAudio {
  /** The packets of the agent as they were heard; a missing packet is an empty buffer. */
  agent: readonly Buffer[];
  /** The packets of the user, whom the kit plays. */
  user: readonly Buffer[];
  /** When the first packet of each side was received or sent, on the monotonic clock. */
  startMs: { agent?: number; user?: number };
}

type RecordedPacket = Pick<AudioPacket, 'timestamp' | 'payload' | 'ssrc' | 'arrivedAtMs'>;

const PACKETS_MAX = 20_000;

/** How far recorded audio may be from the time when it was heard. */
const SHIFT_MS_MAX = 200;

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
 * missing 20 ms. Timestamps don't always follow the time when the audio is heard: some agents send
 * what they had buffered before the call, or count only the time when they speak. So surplus silence
 * is left out, and missing silence is added.
 */
function orderByTime(packets: readonly RecordedPacket[]): Buffer[] {
  const [first] = packets;
  if (!first) return [];
  const ordered = packets
    .filter(({ ssrc }) => ssrc === first.ssrc)
    .map((packet) => ({ ...packet, ticks: (packet.timestamp - first.timestamp) | 0 }))
    .sort((a, b) => a.ticks - b.ticks)
    .map((packet) => ({ ...packet, mediaMs: packet.ticks / TICKS_PER_MS }));
  const delaysMs = measureTransitDelays(ordered);
  const frames: Buffer[] = [];
  const addMissing = (count: number): void => {
    for (let nth = 0; nth < count && frames.length < PACKETS_MAX; nth += 1) {
      frames.push(Buffer.alloc(0));
    }
  };
  let endTicks = 0;
  for (const [nth, { ticks, arrivedAtMs, payload }] of ordered.entries()) {
    addMissing(Math.floor((ticks - endTicks) / FRAME_TICKS));
    endTicks = ticks + (countPacketTicks(payload) ?? FRAME_TICKS);
    const heardMs = arrivedAtMs - (delaysMs[nth] ?? 0) - first.arrivedAtMs;
    const lateMs = heardMs - frames.length * FRAME_MS;
    const isSilent = payload.length <= SILENT_PACKET_BYTES_MAX;
    if (lateMs < -SHIFT_MS_MAX && isSilent) continue;
    if (lateMs > SHIFT_MS_MAX) addMissing(Math.floor(lateMs / FRAME_MS));
    if (frames.length < PACKETS_MAX) frames.push(payload);
  }
  return frames;
}
