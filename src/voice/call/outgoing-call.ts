import { limitSignal } from '../../platform/abort.ts';
import { errorMessage } from '../../platform/error-origin.ts';
import type { Clock } from '../../platform/clock.ts';
import type { AudioPacket, Peer } from '../peer/index.ts';
import { CallError } from './call-error.ts';
import { CallSignaling } from './call-signaling.ts';
import { readOffer, readOpusPayloadType, type CallMessage } from './messages.ts';
import { findLocalAddress } from './local-address.ts';
import { createAddressFilter } from './media-addresses.ts';
import type { VoiceTarget } from './voice-target.ts';

/** How to place a call, and its callbacks, which must not throw. */
export interface OutgoingCallOptions {
  clock: Clock;
  target: VoiceTarget;
  onPacket: (packet: AudioPacket) => void;
  /** Called once when the call ends and we did not hang up. */
  onEnd: (error: CallError) => void;
  /** Called for each valid message of the sandbox. */
  onMessage?: (message: CallMessage) => void;
  /** Time for the sandbox to close the WebSocket after we hang up, in milliseconds. */
  closeMsMax?: number;
}

const CONNECT_MS_MAX = 15_000;

/**
 * A call from the caller's side: WebSocket, `start_call`, the answer to the offer, and the media
 * connection.
 */
export class OutgoingCall {
  readonly #options: OutgoingCallOptions;
  readonly #signaling: CallSignaling;
  readonly #life = new AbortController();
  #ready: CallMessage | undefined;
  #peer: Peer | undefined;
  #payloadType = -1;
  #isUp = false;
  #ending: Promise<boolean> | undefined;

  constructor(options: OutgoingCallOptions) {
    this.#options = options;
    this.#signaling = new CallSignaling(options.clock, options.target);
    this.#signaling.onEnd = options.onEnd;
    if (options.onMessage) this.#signaling.onMessage = options.onMessage;
  }

  /** Whether media flows, as far as is known. */
  get isUp(): boolean {
    return this.#isUp;
  }

  /** The payload type of received Opus packets; -1 before it is negotiated. */
  get payloadType(): number {
    return this.#payloadType;
  }

  /** The last error that the sandbox sent; empty if it sent none. */
  get error(): string {
    return this.#signaling.error;
  }

  /**
   * Opens the WebSocket and requests a call with the fields of `start_call`. Returns `call_ready`
   * and how long it took after the WebSocket opened. @throws CallError.
   */
  async place(fields: CallMessage): Promise<{ ready: CallMessage; readyMs: number }> {
    const { clock } = this.#options;
    await this.#signaling.open();
    const startedMs = clock.monotonicMs();
    const ready = (this.#ready = await this.#signaling.start(fields));
    return { ready, readyMs: clock.monotonicMs() - startedMs };
  }

  /** Answers the offer of `call_ready`. Resolves when media can flow. @throws CallError. */
  async connect(): Promise<Peer> {
    const { clock, target, onPacket, onEnd } = this.#options;
    const ready = this.#ready ?? {};
    const offer = readOffer(ready);
    if (offer === undefined) throw new CallError('bad_offer', 'call_ready contains no offer');
    if (readOpusPayloadType(offer) === undefined) {
      throw new CallError('bad_offer', 'the offer does not include Opus');
    }
    const { createPeer } = await loadWebRtc();
    if (this.#life.signal.aborted) throw createEndedError();
    const address =
      target.mediaAddress ?? (await findLocalAddress(this.#signaling.localAddress, offer));
    const peer = (this.#peer = createPeer({
      clock,
      network: { address },
      acceptsAddress: createAddressFilter(this.#signaling.remoteAddress),
      onPacket,
      onState: (state) => {
        if (state === 'failed' && this.#isUp) onEnd(createPathLostError());
      },
    }));
    this.#signaling.onCandidate = (candidate) => void peer.addCandidate(candidate);
    const answer = await peer.createAnswer(offer).catch((error: unknown) => {
      throw new CallError('bad_offer', errorMessage(error));
    });
    this.#payloadType = readOpusPayloadType(answer) ?? -1;
    this.#signaling.answer(ready, answer);
    using limit = limitSignal(clock, CONNECT_MS_MAX, this.#life.signal);
    // Errors of the peer and the timeout both concern the media path.
    await peer.waitUntilConnected(limit.signal).catch((error: unknown) => {
      throw new CallError('no_path', errorMessage(error));
    });
    this.#isUp = true;
    return peer;
  }

  /** Sends a message with the ids of the call. */
  send(message: CallMessage): void {
    const { type, ...rest } = message;
    this.#signaling.send({ type, ...this.#signaling.ids, ...rest });
  }

  /** Hangs up. Returns whether the sandbox has closed the WebSocket in time. Never rejects. */
  hangUp(): Promise<boolean> {
    return (this.#ending ??= this.#end());
  }

  async #end(): Promise<boolean> {
    this.#isUp = false;
    this.#life.abort(createEndedError());
    const [isClosed] = await Promise.all([
      this.#signaling.hangUp(this.#options.closeMsMax),
      this.#peer?.close(),
    ]);
    return isClosed;
  }
}

const createEndedError = (): CallError => new CallError('local', 'the call is over');
const createPathLostError = (): CallError =>
  new CallError('path_lost', 'the media connection was lost');

/**
 * Loads WebRTC, which takes a moment, so only a call with an offer does it. The import can't be in
 * `connect`: in a function with `using`, the compiler does not rewrite the extension `.ts`.
 */
const loadWebRtc = () => import('../peer/index.ts');
