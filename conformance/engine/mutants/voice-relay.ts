import type { AudioPacket, Peer } from '../../../src/voice/peer/index.ts';
import { isObject } from '../../../src/platform/json.ts';

import type { CallEnds, CallHandlers } from './call-transform.ts';

/** Sends a packet on, with what is given in place of its own. */
export type SendPacket = (packet: AudioPacket, changed?: Partial<AudioPacket>) => void;

/** What becomes of the media of a call. */
export interface MediaHandlers {
  /** A packet of the sandbox, the `nth` from 0. */
  toKit?(packet: AudioPacket, send: SendPacket, nth: number): void;
  /** Whether the sandbox hears the kit. */
  isDeaf?: boolean;
  /** Milliseconds for which packets go on after the hang-up. */
  sendAfterHangUpMs?: number;
}

const FRAME_MS = 20;
const FRAME_TICKS = 960;

/**
 * Takes the media of a call through the proxy: to the kit it is the sandbox, to the sandbox it is the
 * kit. The messages of the call pass, with an offer and an answer of the relay's own in them.
 */
export function relayMedia(media: () => MediaHandlers): (ends: CallEnds) => CallHandlers {
  return (ends) => new Relay(ends, media());
}

class Relay implements CallHandlers {
  readonly #ends: CallEnds;
  readonly #twist: MediaHandlers;
  /** To the sandbox, and to the kit; there is no media before there is an offer. */
  #inner: Peer | undefined;
  #outer: Peer | undefined;
  #isOver = false;
  #offer = '';
  #nth = 0;
  #last: AudioPacket | undefined;

  constructor(ends: CallEnds, twist: MediaHandlers) {
    this.#ends = ends;
    this.#twist = twist;
  }

  fromSandbox(text: string): void {
    const message = objectIn(text);
    const offer = message?.['webrtc_offer'];
    if (message?.['type'] !== 'call_ready' || !isObject(offer)) {
      this.#ends.toKit(text);
      return;
    }
    this.#offer = String(offer['sdp']);
    void this.#ownOffer().then((sdp) => {
      this.#ends.toKit(JSON.stringify({ ...message, webrtc_offer: { type: 'offer', sdp } }));
    });
  }

  /** The parts that carry media take a moment to load: only a call with media does. */
  async #ownOffer(): Promise<string> {
    const { createPeer } = await import('../../../src/voice/peer/index.ts');
    const { clock } = this.#ends;
    const inner = createPeer({ clock, onPacket: (packet) => this.#toKit(packet) });
    const outer = createPeer({
      clock,
      onPacket: ({ payload, timestamp }) => {
        if (!this.#twist.isDeaf) inner.send(payload, timestamp);
      },
      onState: (state) => {
        if (state === 'failed') this.#fail();
      },
    });
    [this.#inner, this.#outer] = [inner, outer];
    const sdp = await outer.createOffer();
    if (this.#isOver) await this.#close();
    return sdp;
  }

  fromKit(text: string): void {
    const message = objectIn(text);
    const answer = message?.['webrtc_answer'];
    if (message?.['type'] !== 'webrtc_answer' || !isObject(answer)) {
      this.#ends.toSandbox(text);
      return;
    }
    void this.#take(String(answer['sdp'])).then(
      (sdp) =>
        this.#ends.toSandbox(
          JSON.stringify({ ...message, webrtc_answer: { type: 'answer', sdp } }),
        ),
      // What the relay cannot take is for the sandbox to refuse.
      () => this.#ends.toSandbox(text),
    );
  }

  onKitClose(): void {
    this.#ends.closeSandbox();
    void this.#goOn().then(() => this.#close());
  }

  onSandboxClose(code: number): void {
    this.#ends.closeKit(code);
    if (!this.#twist.sendAfterHangUpMs) void this.#close();
  }

  async #take(answer: string): Promise<string> {
    if (!this.#inner || !this.#outer) throw new Error('there was no offer');
    await this.#outer.acceptAnswer(answer);
    return this.#inner.createAnswer(this.#offer);
  }

  #toKit(packet: AudioPacket): void {
    this.#last = packet;
    const nth = this.#nth++;
    if (!this.#twist.toKit) this.#send(packet);
    else this.#twist.toKit(packet, (one, changed) => this.#send(one, changed), nth);
  }

  #send(packet: AudioPacket, changed: Partial<AudioPacket> = {}): void {
    const one = { ...packet, ...changed };
    this.#outer?.sendWithHeader(one, one.payload);
  }

  /** Sends more of the same, as an agent does that does not look at its WebSocket. */
  async #goOn(): Promise<void> {
    const frames = (this.#twist.sendAfterHangUpMs ?? 0) / FRAME_MS;
    for (let nth = 1; nth <= frames && this.#last; nth += 1) {
      const { sequence, timestamp } = this.#last;
      const next = { sequence: sequence + nth, timestamp: timestamp + nth * FRAME_TICKS };
      this.#send(this.#last, next);
      await this.#ends.clock.sleep(FRAME_MS);
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
    await Promise.all([this.#inner?.close(), this.#outer?.close()]);
  }
}

function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
