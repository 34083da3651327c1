import { errorMessage } from '../../platform/error-origin.ts';
import type { Clock } from '../../platform/clock.ts';
import type { AudioPacket, Peer } from '../peer/index.ts';
import { CallFailed } from './call-failed.ts';
import { Signalling } from './call-signaling.ts';
import { offerIn, opusTypeIn, type CallMessage } from './messages.ts';
import { ownAddress } from './own-address.ts';
import type { VoiceTarget } from './voice-target.ts';

/** What a call is placed with, and who hears of it. None of them may throw. */
export interface OutgoingCallParts {
  clock: Clock;
  target: VoiceTarget;
  onPacket: (packet: AudioPacket) => void;
  /** Told once when the call ends, and not by us. */
  onEnd: (why: CallFailed) => void;
  /** Told each message of the sandbox that can be read. */
  onMessage?: (message: CallMessage) => void;
}

const connectMsMax = 15_000;

/** A call from the caller's side: WebSocket, `start_call`, the answer to the offer, the way of media. */
export class OutgoingCall {
  readonly #parts: OutgoingCallParts;
  readonly #signalling: Signalling;
  readonly #life = new AbortController();
  #ready: CallMessage | undefined;
  #peer: Peer | undefined;
  #payloadType = -1;
  #isUp = false;
  #ending: Promise<void> | undefined;

  constructor(parts: OutgoingCallParts) {
    this.#parts = parts;
    this.#signalling = new Signalling(parts.clock, parts.target);
    this.#signalling.onEnd = parts.onEnd;
    if (parts.onMessage) this.#signalling.onMessage = parts.onMessage;
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
   * `asked`: what `start_call` has beside its type. @throws CallFailed.
   */
  async place(asked: CallMessage): Promise<{ ready: CallMessage; readyMs: number }> {
    const { clock } = this.#parts;
    await this.#signalling.open();
    const startedMs = clock.monotonicMs();
    const ready = (this.#ready = await this.#signalling.start(asked));
    return { ready, readyMs: clock.monotonicMs() - startedMs };
  }

  /** Answers the offer of `call_ready`; resolves once media can flow. @throws CallFailed. */
  async connect(): Promise<Peer> {
    const { clock, target, onPacket, onEnd } = this.#parts;
    const ready = this.#ready ?? {};
    const offer = offerIn(ready);
    if (offer === undefined) throw new CallFailed('bad_offer', 'call_ready brings no offer');
    if (opusTypeIn(offer) === undefined) {
      throw new CallFailed('bad_offer', 'the offer has no Opus in it');
    }
    const { createPeer } = await peerRoom();
    if (this.#life.signal.aborted) throw hungUp();
    const address = target.mediaAddress ?? (await ownAddress(this.#signalling.localAddress, offer));
    const peer = (this.#peer = createPeer({
      clock,
      network: { address },
      onPacket,
      onState: (state) => {
        if (state === 'failed' && this.#isUp) onEnd(pathLost());
      },
    }));
    this.#signalling.onCandidate = (candidate) => void peer.addCandidate(candidate);
    const answer = await peer.answer(offer).catch((error: unknown) => {
      throw new CallFailed('bad_offer', messageOf(error));
    });
    this.#payloadType = opusTypeIn(answer) ?? -1;
    this.#signalling.answer(ready, answer);
    using deadline = clock.deadline(connectMsMax);
    const until = AbortSignal.any([deadline.signal, this.#life.signal]);
    // What a peer or its deadline throws is about the path.
    await peer.connected(until).catch((error: unknown) => {
      throw new CallFailed('no_path', messageOf(error));
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

const hungUp = (): CallFailed => new CallFailed('local', 'the call is over');
const pathLost = (): CallFailed => new CallFailed('path_lost', 'the path of the media broke');

const messageOf = (error: unknown): string => errorMessage(error);
