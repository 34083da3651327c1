import { errorMessage } from '../../../../src/platform/error-origin.ts';
import type { CallMedia } from '../../../../src/contract/index.ts';
import { findPercentile } from '../../../../src/voice/latency/index.ts';
import type { Clock } from '../../../../src/platform/clock.ts';
import { createDecoder, type Clip } from '../../../../src/voice/opus/index.ts';
import { createPacer } from '../../../../src/platform/pacer.ts';
import { createPeer, type AudioPacket, type Peer } from '../../../../src/voice/peer/index.ts';
import {
  CallRecording,
  Microphone,
  readOpusPayloadType,
  type CallAudio,
  type SpeechSpan,
} from '../../../../src/voice/call/index.ts';
import { ReceivedAudio, type Sound } from './received-audio.ts';

/** What the kit's end of the media is made of. */
export interface MediaConnectionOptions {
  clock: Clock;
  sinceRunMs: (atMs: number) => number;
  /** Of this machine, to send from and to be reached at. */
  address: string;
  /** Called after every packet. */
  onPacket: () => void;
}

const CONNECT_MS_MAX = 15_000;
const ASK_EVERY_MS = 250;

/** The kit's end of the media of one call: it answers, listens and speaks. */
export class MediaConnection {
  readonly #parts: MediaConnectionOptions;
  readonly #peer: Peer;
  readonly #life = new AbortController();
  readonly #roundTripsMs: number[] = [];
  readonly #audio = new CallRecording();
  readonly #lateMs: number[] = [];
  #received: ReceivedAudio | undefined;
  #microphone: Microphone | undefined;
  #payloadType = -1;
  #hasPath = false;

  constructor(parts: MediaConnectionOptions) {
    this.#parts = parts;
    this.#peer = createPeer({
      clock: parts.clock,
      network: { address: parts.address },
      onPacket: (packet) => this.#hear(packet),
    });
  }

  /** The answer to an offer. @throws PeerError where it can't be taken. */
  async answer(offer: string): Promise<string> {
    const answer = await this.#peer.createAnswer(offer);
    this.#payloadType = readOpusPayloadType(answer) ?? -1;
    const { clock, sinceRunMs } = this.#parts;
    const decoder = await createDecoder();
    this.#received = new ReceivedAudio({
      clock,
      decoder,
      sinceRunMs,
      payloadType: this.#payloadType,
    });
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
      await this.#peer.waitUntilConnected(
        AbortSignal.any([deadline.signal, signal, this.#life.signal]),
      );
    } catch (error) {
      this.#hasPath = this.#peer.hasPath;
      return errorMessage(error);
    }
    this.#hasPath = true;
    const { clock } = this.#parts;
    this.#microphone = new Microphone({
      peer: this.#peer,
      clock,
      pacer: createPacer(clock),
      onSent: (payload, lateMs) => {
        this.#audio.addSent(payload);
        this.#lateMs.push(lateMs);
      },
    });
    void this.#ask();
    return undefined;
  }

  /** Says a clip; undefined where the call ends before it is said. */
  async say(clip: Clip): Promise<SpeechSpan | undefined> {
    return this.#microphone?.say(clip);
  }

  /** Whether the sandbox can be heard, or could a moment ago. */
  get isLoud(): boolean {
    return this.#received?.isLoud ?? false;
  }

  /** The stretches in which it could be heard. */
  get sounds(): readonly Sound[] {
    return this.#received?.sounds ?? [];
  }

  /** Says no more; what comes is still heard. */
  hush(): void {
    this.#microphone?.stop();
  }

  async close(): Promise<void> {
    this.#life.abort(new Error('the call is over'));
    this.hush();
    await this.#peer.close();
    this.#received?.close();
  }

  /** What there is to record. */
  view(): CallMedia {
    return {
      payloadType: this.#payloadType,
      hasPath: this.#hasPath,
      packets: this.#received?.packets ?? [],
      roundTripsMs: this.#roundTripsMs.map((ms) => Math.round(ms * 100) / 100),
      sent: this.#lateMs.length,
      lateMs: Math.round((findPercentile(this.#lateMs, 99) ?? 0) * 100) / 100,
    };
  }

  audio(): CallAudio {
    return this.#audio.audio();
  }

  #hear(packet: AudioPacket): void {
    this.#received?.hear(packet);
    if (packet.payloadType === this.#payloadType) this.#audio.addReceived(packet);
    this.#parts.onPacket();
  }

  async #ask(): Promise<void> {
    const { signal } = this.#life;
    while (!signal.aborted) {
      const ms = await this.#peer.measureRoundTripMs();
      if (ms !== undefined) this.#roundTripsMs.push(ms);
      await this.#parts.clock.sleep(ASK_EVERY_MS, signal).catch(() => undefined);
    }
  }
}
