import type { AudioPacket, Peer } from '../../../src/voice/peer/index.ts';
import { isObject } from '../../../src/platform/json.ts';
import { parseMessage } from '../../../src/voice/call/messages.ts';
import type { CallEnds, CallHandlers } from './mutant.ts';
import { FRAME_MS, FRAME_TICKS } from '../../../src/voice/opus/frame.ts';

/** Forwards a packet, with changes if there are any. */
export type SendPacket = (packet: AudioPacket, changed?: Partial<AudioPacket>) => void;

/** Changes the media of a call. Without a handler, packets are forwarded. */
export interface MediaHandlers {
  /** Handles a packet of the sandbox; `nth` counts from 0. */
  toKit?(packet: AudioPacket, send: SendPacket, nth: number): void;
  /** Drops the audio of the kit. */
  dropsKitAudio?: boolean;
  /** Keeps sending packets for this many milliseconds after the hang-up. */
  sendAfterHangUpMs?: number;
}

/**
 * Routes the media of a call through the proxy with two WebRTC connections, one to each side. Messages
 * are forwarded with the offer and the answer of these connections.
 */
export function relayMedia(media: () => MediaHandlers): (ends: CallEnds) => CallHandlers {
  return (ends) => new Relay(ends, media());
}

class Relay implements CallHandlers {
  readonly #ends: CallEnds;
  readonly #handlers: MediaHandlers;
  /** The connection to the sandbox; undefined before the offer. */
  #toSandboxPeer: Peer | undefined;
  /** The connection to the kit; undefined before the offer. */
  #toKitPeer: Peer | undefined;
  #isOver = false;
  #offer = '';
  #nth = 0;
  #last: AudioPacket | undefined;

  constructor(ends: CallEnds, handlers: MediaHandlers) {
    this.#ends = ends;
    this.#handlers = handlers;
  }

  fromSandbox(text: string): void {
    const message = parseMessage(text);
    const offer = message?.['webrtc_offer'];
    if (message?.['type'] !== 'call_ready' || !isObject(offer)) {
      this.#ends.toKit(text);
      return;
    }
    this.#offer = String(offer['sdp']);
    void this.#createOffer().then((sdp) => {
      this.#ends.toKit(JSON.stringify({ ...message, webrtc_offer: { type: 'offer', sdp } }));
    });
  }

  /** Loads the WebRTC module on demand, because loading takes a moment and most calls have no media. */
  async #createOffer(): Promise<string> {
    const { createPeer } = await import('../../../src/voice/peer/index.ts');
    const { clock } = this.#ends;
    const inner = createPeer({ clock, onPacket: (packet) => this.#toKit(packet) });
    const outer = createPeer({
      clock,
      onPacket: ({ payload, timestamp }) => {
        if (!this.#handlers.dropsKitAudio) inner.send(payload, timestamp);
      },
      onState: (state) => {
        if (state === 'failed') this.#fail();
      },
    });
    [this.#toSandboxPeer, this.#toKitPeer] = [inner, outer];
    const sdp = await outer.createOffer();
    if (this.#isOver) await this.#close();
    return sdp;
  }

  fromKit(text: string): void {
    const message = parseMessage(text);
    const answer = message?.['webrtc_answer'];
    if (message?.['type'] !== 'webrtc_answer' || !isObject(answer)) {
      this.#ends.toSandbox(text);
      return;
    }
    void this.#acceptAnswer(String(answer['sdp'])).then(
      (sdp) =>
        this.#ends.toSandbox(
          JSON.stringify({ ...message, webrtc_answer: { type: 'answer', sdp } }),
        ),
      // The sandbox must refuse an answer that the relay can't use.
      () => this.#ends.toSandbox(text),
    );
  }

  onKitClose(): void {
    this.#ends.closeSandbox();
    void this.#keepSending().then(() => this.#close());
  }

  onSandboxClose(code: number): void {
    this.#ends.closeKit(code);
    if (!this.#handlers.sendAfterHangUpMs) void this.#close();
  }

  async #acceptAnswer(answer: string): Promise<string> {
    if (!this.#toSandboxPeer || !this.#toKitPeer)
      throw new Error('The answer arrived before the offer.');
    await this.#toKitPeer.acceptAnswer(answer);
    return this.#toSandboxPeer.createAnswer(this.#offer);
  }

  #toKit(packet: AudioPacket): void {
    this.#last = packet;
    const nth = this.#nth++;
    if (!this.#handlers.toKit) this.#send(packet);
    else this.#handlers.toKit(packet, (next, changed) => this.#send(next, changed), nth);
  }

  #send(packet: AudioPacket, changed: Partial<AudioPacket> = {}): void {
    const sent = { ...packet, ...changed };
    this.#toKitPeer?.sendWithHeader(sent, sent.payload);
  }

  /** Repeats the last packet, like an agent that ignores the closed WebSocket. */
  async #keepSending(): Promise<void> {
    const frames = (this.#handlers.sendAfterHangUpMs ?? 0) / FRAME_MS;
    const { clock } = this.#ends;
    const startMs = clock.monotonicMs();
    for (let nth = 1; nth <= frames && this.#last; nth += 1) {
      const { sequence, timestamp } = this.#last;
      const next = { sequence: sequence + nth, timestamp: timestamp + nth * FRAME_TICKS };
      this.#send(this.#last, next);
      await clock.sleep(Math.max(0, startMs + nth * FRAME_MS - clock.monotonicMs()));
    }
  }

  #fail(): void {
    const error = { code: 'connection_failed', message: 'The connection failed.' };
    this.#ends.toKit(JSON.stringify({ type: 'error', error }));
    this.#ends.closeKit(1011);
    this.#ends.closeSandbox();
  }

  async #close(): Promise<void> {
    this.#isOver = true;
    await Promise.all([this.#toSandboxPeer?.close(), this.#toKitPeer?.close()]);
  }
}
