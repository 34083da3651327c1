import { limitSignal } from '../../../../src/platform/abort.ts';
import { errorMessage } from '../../../../src/platform/error-origin.ts';
import type { CallMedia } from '../../../../src/contract/index.ts';
import { findPercentile } from '../../../../src/platform/percentile.ts';
import type { Clock } from '../../../../src/platform/clock.ts';
import { createDecoder, type Clip } from '../../../../src/voice/opus/index.ts';
import { createPacer } from '../../../../src/platform/pacer.ts';
import { createPeer, type AudioPacket, type Peer } from '../../../../src/voice/peer/index.ts';
import {
  CallRecording,
  Microphone,
  readOpusPayloadType,
  type CallAudio,
} from '../../../../src/voice/call/index.ts';
import type { SpeechSpan } from '../../../../src/voice/speech-span.ts';
import { ReceivedAudio, type Sound } from './received-audio.ts';
import { roundTo } from '../../../../src/platform/round.ts';

/** Options of a media connection. */
export interface MediaConnectionOptions {
  clock: Clock;
  /** Converts a time of the clock to milliseconds since the start of the run. */
  sinceRunMs: (atMs: number) => number;
  /** The local address to bind to and to offer. */
  address: string;
  /** Whether packets may be sent to an address that the sandbox names. */
  acceptsAddress: (address: string) => boolean;
  /** Called after every received packet. */
  onPacket: () => void;
}

const CONNECT_MS_MAX = 15_000;
const ROUND_TRIP_EVERY_MS = 250;

/** The WebRTC connection of one call: answers the offer, plays clips, and records the sandbox. */
export class MediaConnection {
  readonly #options: MediaConnectionOptions;
  readonly #peer: Peer;
  readonly #lifetime = new AbortController();
  readonly #roundTripsMs: number[] = [];
  readonly #audio = new CallRecording();
  readonly #lateMs: number[] = [];
  #received: ReceivedAudio | undefined;
  #microphone: Microphone | undefined;
  #payloadType = -1;
  #hasPath = false;

  constructor(options: MediaConnectionOptions) {
    this.#options = options;
    this.#peer = createPeer({
      clock: options.clock,
      network: { address: options.address },
      acceptsAddress: options.acceptsAddress,
      onPacket: (packet) => this.#receive(packet),
    });
  }

  /**
   * Returns the SDP answer to an offer.
   *
   * @throws {PeerError} The offer is unusable.
   */
  async answer(offer: string): Promise<string> {
    const answer = await this.#peer.createAnswer(offer);
    this.#payloadType = readOpusPayloadType(answer) ?? -1;
    const { clock, sinceRunMs } = this.#options;
    const decoder = await createDecoder();
    this.#received = new ReceivedAudio({
      clock,
      decoder,
      sinceRunMs,
      payloadType: this.#payloadType,
    });
    return answer;
  }

  /** Adds a candidate that arrived in its own message. */
  addCandidate(candidate: string): void {
    void this.#peer.addCandidate(candidate);
  }

  /** Waits until media can flow and starts sending audio. Returns the reason if it can't in time. */
  async connect(signal: AbortSignal): Promise<string | undefined> {
    const { clock } = this.#options;
    using limit = limitSignal(clock, CONNECT_MS_MAX, signal, this.#lifetime.signal);
    try {
      await this.#peer.waitUntilConnected(limit.signal);
    } catch (error) {
      this.#hasPath = this.#peer.hasPath;
      return errorMessage(error);
    }
    this.#hasPath = true;
    this.#microphone = new Microphone({
      peer: this.#peer,
      clock,
      pacer: createPacer(clock),
      onSent: (payload, lateMs) => {
        this.#audio.addSent(payload, clock.monotonicMs());
        this.#lateMs.push(lateMs);
      },
    });
    void this.#measureRoundTrips();
    return undefined;
  }

  /** Plays a clip; resolves when its speech ends, with undefined if the call ends first. */
  async say(clip: Clip): Promise<SpeechSpan | undefined> {
    return this.#microphone?.say(clip);
  }

  /** Whether the sandbox is audible, or was a moment ago. */
  get isLoud(): boolean {
    return this.#received?.isLoud ?? false;
  }

  /** The periods when the sandbox was audible. */
  get sounds(): readonly Sound[] {
    return this.#received?.sounds ?? [];
  }

  /** Stops sending audio. Received audio is still recorded. */
  stopSpeaking(): void {
    this.#microphone?.stop();
  }

  async close(): Promise<void> {
    this.#lifetime.abort(new Error('the call is over'));
    this.stopSpeaking();
    await this.#peer.close();
    this.#received?.close();
  }

  /** Returns the media of the call for the recording. */
  toRecord(): CallMedia {
    const { refusedAddresses } = this.#peer;
    return {
      payloadType: this.#payloadType,
      hasPath: this.#hasPath,
      packets: this.#received?.packets ?? [],
      roundTripsMs: this.#roundTripsMs.map((ms) => roundTo(ms, 2)),
      sent: this.#lateMs.length,
      lateMs: roundTo(findPercentile(this.#lateMs, 99) ?? 0, 2),
      ...(refusedAddresses.length > 0 && { refusedAddresses: [...refusedAddresses] }),
    };
  }

  audio(): CallAudio {
    return this.#audio.audio();
  }

  #receive(packet: AudioPacket): void {
    this.#received?.add(packet);
    if (packet.payloadType === this.#payloadType) this.#audio.addReceived(packet);
    this.#options.onPacket();
  }

  async #measureRoundTrips(): Promise<void> {
    const { signal } = this.#lifetime;
    while (!signal.aborted) {
      const ms = await this.#peer.measureRoundTripMs();
      if (ms !== undefined) this.#roundTripsMs.push(ms);
      await this.#options.clock.sleep(ROUND_TRIP_EVERY_MS, signal).catch(() => undefined);
    }
  }
}
