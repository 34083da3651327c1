import { errorMessage } from '../../platform/error-origin.ts';
import type { Clock } from '../../platform/clock.ts';
import type { AudioPacket, Peer } from '../peer/index.ts';
import { CallError } from './call-error.ts';
import { CallSignaling } from './call-signaling.ts';
import { readOffer, readOpusPayloadType, type CallMessage } from './messages.ts';
import { findLocalAddress } from './local-address.ts';
import type { VoiceTarget } from './voice-target.ts';

/** How to place a call, and its callbacks, which must not throw. */
export interface OutgoingCallOptions {
  clock: Clock;
  target: VoiceTarget;
  onPacket: (packet: AudioPacket) => void;
  /** Called once when the call ends and we did not hang up. */
  onEnd: (why: CallError) => void;
  /** Called for each valid message of the sandbox. */
  onMessage?: (message: CallMessage) => void;
}

const CONNECT_MS_MAX = 15_000;

/**
 * A call from the caller's side: WebSocket, `start_call`, the answer to the offer, and the media
 * connection.
 */
export class OutgoingCall {
  readonly #options: OutgoingCallOptions;
  readonly #signalling: CallSignaling;
  readonly #life = new AbortController();
  #ready: CallMessage | undefined;
  #peer: Peer | undefined;
  #payloadType = -1;
  #isUp = false;
  #ending: Promise<void> | undefined;

  constructor(options: OutgoingCallOptions) {
    this.#options = options;
    this.#signalling = new CallSignaling(options.clock, options.target);
    this.#signalling.onEnd = options.onEnd;
    if (options.onMessage) this.#signalling.onMessage = options.onMessage;
  }

  /** Whether media flows, as far as is known. */
  get isUp(): boolean {
    return this.#isUp;
  }

  /** The payload type of received Opus packets; -1 before it is negotiated. */
  get payloadType(): number {
    return this.#payloadType;
  }

  /** The last error that the sandbox sent; empty if there was none. */
  get error(): string {
    return this.#signalling.error;
  }

  /**
   * Opens the WebSocket and requests a call. Returns `call_ready` and how long it took after the
   * WebSocket opened. `asked` contains the fields of `start_call` except its type. @throws
   * CallError.
   */
  async place(asked: CallMessage): Promise<{ ready: CallMessage; readyMs: number }> {
    const { clock } = this.#options;
    await this.#signalling.open();
    const startedMs = clock.monotonicMs();
    const ready = (this.#ready = await this.#signalling.start(asked));
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
    const { createPeer } = await peerRoom();
    if (this.#life.signal.aborted) throw hungUp();
    const address =
      target.mediaAddress ?? (await findLocalAddress(this.#signalling.localAddress, offer));
    const peer = (this.#peer = createPeer({
      clock,
      network: { address },
      onPacket,
      onState: (state) => {
        if (state === 'failed' && this.#isUp) onEnd(pathLost());
      },
    }));
    this.#signalling.onCandidate = (candidate) => void peer.addCandidate(candidate);
    const answer = await peer.createAnswer(offer).catch((error: unknown) => {
      throw new CallError('bad_offer', messageOf(error));
    });
    this.#payloadType = readOpusPayloadType(answer) ?? -1;
    this.#signalling.answer(ready, answer);
    using deadline = clock.deadline(CONNECT_MS_MAX);
    const until = AbortSignal.any([deadline.signal, this.#life.signal]);
    // Errors of the peer and the timeout both concern the media path.
    await peer.waitUntilConnected(until).catch((error: unknown) => {
      throw new CallError('no_path', messageOf(error));
    });
    this.#isUp = true;
    return peer;
  }

  /** Sends a message with the ids of the call. */
  send(message: CallMessage): void {
    const { type, ...rest } = message;
    this.#signalling.send({ type, ...this.#signalling.ids, ...rest });
  }

  /** Hangs up. Never rejects. */
  hangUp(): Promise<void> {
    return (this.#ending ??= this.#end());
  }

  async #end(): Promise<void> {
    this.#isUp = false;
    this.#life.abort(hungUp());
    await Promise.all([this.#signalling.hangUp(), this.#peer?.close()]);
  }
}

/** Loading WebRTC takes a moment, so only a call with an offer does. */
const peerRoom = () => import('../peer/index.ts');

const hungUp = (): CallError => new CallError('local', 'the call is over');
const pathLost = (): CallError => new CallError('path_lost', 'the media connection was lost');

const messageOf = (error: unknown): string => errorMessage(error);
