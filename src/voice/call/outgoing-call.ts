import { errorMessage } from '../../platform/error-origin.ts';
import type { Clock } from '../../platform/clock.ts';
import type { AudioPacket, Peer } from '../peer/index.ts';
import { CallError } from './call-error.ts';
import { CallSignaling } from './call-signaling.ts';
import { readOffer, readOpusPayloadType, type CallMessage } from './messages.ts';
import { findLocalAddress } from './local-address.ts';
import type { VoiceTarget } from './voice-target.ts';

/** What a call is placed with, and who hears of it. None of them may throw. */
export interface OutgoingCallOptions {
  clock: Clock;
  target: VoiceTarget;
  onPacket: (packet: AudioPacket) => void;
  /** Told once when the call ends, and not by us. */
  onEnd: (why: CallError) => void;
  /** Told each message of the sandbox that can be read. */
  onMessage?: (message: CallMessage) => void;
}

const CONNECT_MS_MAX = 15_000;

/** A call from the caller's side: WebSocket, `start_call`, the answer to the offer, the way of media. */
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

  /** Media flows, as far as is known. */
  get isUp(): boolean {
    return this.#isUp;
  }

  /** Of Opus in what comes; -1 before anything is agreed on. */
  get payloadType(): number {
    return this.#payloadType;
  }

  /** An error that the sandbox has sent; empty where there is none. */
  get error(): string {
    return this.#signalling.error;
  }

  /**
   * Opens the WebSocket and asks for a call; `call_ready`, and how long it took from the opening.
   * `asked`: what `start_call` has beside its type. @throws CallError.
   */
  async place(asked: CallMessage): Promise<{ ready: CallMessage; readyMs: number }> {
    const { clock } = this.#options;
    await this.#signalling.open();
    const startedMs = clock.monotonicMs();
    const ready = (this.#ready = await this.#signalling.start(asked));
    return { ready, readyMs: clock.monotonicMs() - startedMs };
  }

  /** Answers the offer of `call_ready`; resolves once media can flow. @throws CallError. */
  async connect(): Promise<Peer> {
    const { clock, target, onPacket, onEnd } = this.#options;
    const ready = this.#ready ?? {};
    const offer = readOffer(ready);
    if (offer === undefined) throw new CallError('bad_offer', 'call_ready brings no offer');
    if (readOpusPayloadType(offer) === undefined) {
      throw new CallError('bad_offer', 'the offer has no Opus in it');
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
    // What a peer or its deadline throws is about the path.
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

/** Loaded for a call that has an offer: it takes a moment. */
const peerRoom = () => import('../peer/index.ts');

const hungUp = (): CallError => new CallError('local', 'the call is over');
const pathLost = (): CallError => new CallError('path_lost', 'the path of the media broke');

const messageOf = (error: unknown): string => errorMessage(error);
