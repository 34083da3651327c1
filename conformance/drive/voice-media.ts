import type { CallMedia } from '../../src/contract/index.ts';
import { percentileOf } from '../../src/shared/audio-latency/index.ts';
import type { Clock } from '../../src/shared/clock.ts';
import { createDecoder, ticksOfPacket, type Clip } from '../../src/shared/opus/index.ts';
import { pacer } from '../../src/shared/pacer.ts';
import { createPeer, type AudioPacket, type Peer } from '../../src/shared/peer/index.ts';
import { Microphone, opusTypeIn, type Said } from '../../src/shared/voice-call/index.ts';
import { Ear, type Sound } from './voice-ear.ts';

/** What the kit's end of the media is made of. */
export interface MediaParts {
  clock: Clock;
  sinceRunMs: (atMs: number) => number;
  /** Of this machine, to send from and to be reached at. */
  address: string;
  /** Called after every packet. */
  onPacket: () => void;
}

/** The audio of a call as it came and went, for whoever wants to listen to it. */
export interface CallAudio {
  /** What the sandbox sent, by time: an empty packet for one that is missing. */
  sandbox: readonly Buffer[];
  /** What the kit sent. */
  kit: readonly Buffer[];
}

const CONNECT_MS_MAX = 15_000;
const ASK_EVERY_MS = 250;
const TICKS_OF_FRAME = 960;
const AUDIO_PACKETS_MAX = 20_000;

/** The kit's end of the media of one call: it answers, listens and speaks. */
export class MediaEnd {
  readonly #parts: MediaParts;
  readonly #peer: Peer;
  readonly #life = new AbortController();
  readonly #roundTripsMs: number[] = [];
  readonly #sent: Buffer[] = [];
  readonly #lateMs: number[] = [];
  readonly #heard: Pick<AudioPacket, 'timestamp' | 'payload' | 'ssrc'>[] = [];
  #ear: Ear | undefined;
  #microphone: Microphone | undefined;
  #payloadType = -1;
  #hasPath = false;

  constructor(parts: MediaParts) {
    this.#parts = parts;
    this.#peer = createPeer({
      clock: parts.clock,
      network: { address: parts.address },
      onPacket: (packet) => this.#hear(packet),
    });
  }

  /** The answer to an offer. @throws PeerFailed where it can't be taken. */
  async answer(offer: string): Promise<string> {
    const answer = await this.#peer.answer(offer);
    this.#payloadType = opusTypeIn(answer) ?? -1;
    const { clock, sinceRunMs } = this.#parts;
    const decoder = await createDecoder();
    this.#ear = new Ear({ clock, decoder, sinceRunMs, payloadType: this.#payloadType });
    return answer;
  }

  /** A candidate that came in a message of its own. */
  addCandidate(candidate: string): void {
    void this.#peer.addCandidate(candidate);
  }

  /** Waits until media can flow, and begins to speak; why not, where it can't in time. */
  async connect(signal: AbortSignal): Promise<string | undefined> {
    using deadline = this.#parts.clock.deadline(CONNECT_MS_MAX);
    try {
      await this.#peer.connected(AbortSignal.any([deadline.signal, signal, this.#life.signal]));
    } catch (error) {
      this.#hasPath = this.#peer.hasPath;
      return error instanceof Error ? error.message : String(error);
    }
    this.#hasPath = true;
    const { clock } = this.#parts;
    this.#microphone = new Microphone({
      peer: this.#peer,
      clock,
      pacer: pacer(clock),
      onSent: (payload, lateMs) => {
        this.#sent.push(payload);
        this.#lateMs.push(lateMs);
      },
    });
    void this.#ask();
    return undefined;
  }

  /** Says a clip; undefined where the call ends before it is said. */
  async say(clip: Clip): Promise<Said | undefined> {
    return this.#microphone?.say(clip);
  }

  /** Whether the sandbox can be heard, or could a moment ago. */
  get isLoud(): boolean {
    return this.#ear?.isLoud ?? false;
  }

  /** The stretches in which it could be heard. */
  get sounds(): readonly Sound[] {
    return this.#ear?.sounds ?? [];
  }

  /** Says no more; what comes is still heard. */
  hush(): void {
    this.#microphone?.stop();
  }

  async close(): Promise<void> {
    this.#life.abort(new Error('the call is over'));
    this.hush();
    await this.#peer.close();
    this.#ear?.close();
  }

  /** What there is to record. */
  view(): CallMedia {
    return {
      payloadType: this.#payloadType,
      hasPath: this.#hasPath,
      packets: this.#ear?.packets ?? [],
      roundTripsMs: this.#roundTripsMs.map((ms) => Math.round(ms * 100) / 100),
      sent: this.#sent.length,
      lateMs: Math.round((percentileOf(this.#lateMs, 99) ?? 0) * 100) / 100,
    };
  }

  audio(): CallAudio {
    return { sandbox: inTime(this.#heard), kit: this.#sent };
  }

  #hear(packet: AudioPacket): void {
    this.#ear?.hear(packet);
    const { timestamp, payload, ssrc, payloadType } = packet;
    if (payloadType === this.#payloadType && this.#heard.length < AUDIO_PACKETS_MAX) {
      this.#heard.push({ timestamp, payload, ssrc });
    }
    this.#parts.onPacket();
  }

  async #ask(): Promise<void> {
    const { signal } = this.#life;
    while (!signal.aborted) {
      const ms = await this.#peer.roundTripMs();
      if (ms !== undefined) this.#roundTripsMs.push(ms);
      await this.#parts.clock.sleep(ASK_EVERY_MS, signal).catch(() => undefined);
    }
  }
}

/** Packets of one stream by their time, an empty one for each 20 ms that are missing. */
function inTime(heard: readonly Pick<AudioPacket, 'timestamp' | 'payload' | 'ssrc'>[]): Buffer[] {
  const [first] = heard;
  if (!first) return [];
  const ticksOf = ({ timestamp }: { timestamp: number }): number =>
    (timestamp - first.timestamp) | 0;
  const own = heard.filter(({ ssrc }) => ssrc === first.ssrc);
  const frames: Buffer[] = [];
  let endTicks = 0;
  for (const packet of own.sort((one, other) => ticksOf(one) - ticksOf(other))) {
    const missing = Math.floor((ticksOf(packet) - endTicks) / TICKS_OF_FRAME);
    for (let nth = 0; nth < missing && frames.length < AUDIO_PACKETS_MAX; nth += 1) {
      frames.push(Buffer.alloc(0));
    }
    if (frames.length < AUDIO_PACKETS_MAX) frames.push(packet.payload);
    endTicks = ticksOf(packet) + (ticksOfPacket(packet.payload) ?? TICKS_OF_FRAME);
  }
  return frames;
}
