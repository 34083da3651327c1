import type { Chance } from '../../src/shared/chance.ts';
import type { Clock } from '../../src/shared/clock.ts';
import { createDecoder, type Clip } from '../../src/shared/opus/index.ts';
import type { Pacer } from '../../src/shared/pacer.ts';
import { createPeer, type AudioPacket, type Peer } from '../../src/shared/peer/index.ts';
import { Microphone, offerIn, opusTypeIn, ownAddress } from '../../src/shared/voice-call/index.ts';
import { CallFailed, Signalling } from './call-signalling.ts';
import type { CallFault, CallOrder, CallOutcome, VoiceTarget } from './fleet-messages.ts';
import { MediaTally, type MediaCounts } from './media-tally.ts';
import { Talker } from './talker.ts';
import { TurnEar } from './turn-ear.ts';

/** What a call is placed with. */
export interface CallParts {
  clock: Clock;
  pacer: Pacer;
  chance: Chance;
  /** What the caller can say. */
  clips: readonly Clip[];
  target: VoiceTarget;
  order: CallOrder;
  counts: MediaCounts;
}

const connectMsMax = 15_000;

/** One call, from its place in the plan to the hang-up. */
export class PlacedCall {
  readonly #parts: CallParts;
  readonly #signalling: Signalling;
  readonly #tally: MediaTally;
  readonly #life = new AbortController();
  #peer: Peer | undefined;
  #ear: TurnEar | undefined;
  #microphone: Microphone | undefined;
  #talker: Talker | undefined;
  #fault: CallFault | undefined;
  #times: Pick<CallOutcome, 'readyMs' | 'setupMs'> = {};
  #dueMs = 0;
  #isUp = false;
  #wasUpAtStart = false;
  #ending: Promise<void> | undefined;

  constructor(parts: CallParts) {
    this.#parts = parts;
    this.#signalling = new Signalling(parts.clock, parts.target);
    this.#tally = new MediaTally(parts.clock, parts.counts);
  }

  /** Media flows, as far as is known. */
  get isUp(): boolean {
    return this.#isUp;
  }

  /** Waits until it is due and places it; resolves once it is connected, or never will be. */
  async place(): Promise<void> {
    const { clock, order } = this.#parts;
    const waitMs = order.dueAtMs - clock.nowMs();
    this.#dueMs = clock.monotonicMs() + waitMs;
    try {
      await clock.sleep(Math.max(0, waitMs), this.#life.signal);
      await this.#connect();
    } catch (error) {
      await this.#fail(error);
    }
  }

  /** The judged window begins. */
  beginWindow(): void {
    if (!this.#peer || !this.#isUp) return;
    this.#wasUpAtStart = true;
    this.#tally.begin(this.#peer, this.#life.signal);
    this.#talker?.beginWindow();
  }

  /** Hangs up. */
  end(): Promise<void> {
    return (this.#ending ??= this.#hangUp());
  }

  /** The window is over: nothing that comes from now on counts. What came of the call is told later. */
  close(): () => CallOutcome {
    const isHeld = this.#wasUpAtStart && this.#fault === undefined;
    void this.end();
    return () => this.#outcome(isHeld);
  }

  #outcome(wasHeld: boolean): CallOutcome {
    const { nth, session } = this.#parts.order;
    const { turnResponsesMs, turns } = this.#talker?.figures() ?? { turnResponsesMs: [], turns: 0 };
    const media = this.#tally.figures();
    const isSilent = wasHeld && media.received === 0;
    const fault = isSilent ? this.#faultOf('no_media', 'no audio came in the window') : this.#fault;
    const firstMs = this.#tally.firstPacketAtMs;
    return {
      nth,
      session,
      ...(fault && { fault }),
      isConnected: this.#times.setupMs !== undefined,
      isHeld: wasHeld && !isSilent,
      ...this.#times,
      ...(firstMs !== undefined && { firstPacketMs: firstMs - this.#dueMs }),
      ...media,
      turns,
      turnResponsesMs: [...turnResponsesMs],
      unansweredTurns: turns - turnResponsesMs.length,
    };
  }

  async #connect(): Promise<void> {
    const { clock, target, order, pacer } = this.#parts;
    // The parts that hear take a moment to load, which is none of the sandbox's.
    const ear = (this.#ear = new TurnEar(await createDecoder()));
    this.#signalling.onEnd = (why) => void this.#fail(why);
    await this.#signalling.open();
    const startedMs = clock.monotonicMs();
    const ready = await this.#signalling.start(order.session);
    this.#times.readyMs = clock.monotonicMs() - startedMs;
    const offer = offerIn(ready);
    if (offer === undefined) throw new CallFailed('bad_offer', 'call_ready brings no offer');
    const address = target.mediaAddress ?? (await ownAddress(this.#signalling.localAddress, offer));
    const peer = (this.#peer = createPeer({
      clock,
      network: { address },
      onPacket: (packet) => this.#hear(packet),
      onState: (state) => {
        if (state === 'failed' && this.#isUp) void this.#fail(pathLost());
      },
    }));
    this.#signalling.onCandidate = (candidate) => void peer.addCandidate(candidate);
    const answer = await peer.answer(offer).catch((error: unknown) => {
      throw new CallFailed('bad_offer', messageOf(error));
    });
    ear.payloadType = opusTypeIn(answer) ?? -1;
    this.#signalling.answer(ready, answer);
    using deadline = clock.deadline(connectMsMax);
    await peer.connected(AbortSignal.any([deadline.signal, this.#life.signal]));
    this.#times.setupMs = clock.monotonicMs() - this.#dueMs;
    this.#isUp = true;
    const onSent = (_payload: Buffer, lateMs: number): void => this.#tally.sent(lateMs);
    this.#microphone = new Microphone({ peer, clock, pacer, onSent });
    this.#talk(this.#microphone, ear);
  }

  #talk(microphone: Microphone, ear: TurnEar): void {
    const { clock, chance, clips } = this.#parts;
    const talker = new Talker({ clock, chance, clips, microphone, ear, tally: this.#tally });
    this.#talker = talker;
    void talker.run(this.#life.signal).catch((error: unknown) => this.#fail(error));
  }

  #hear(packet: AudioPacket): void {
    this.#tally.hear(packet);
    this.#ear?.hear(packet);
  }

  /** The first thing that goes wrong is what became of the call. */
  async #fail(error: unknown): Promise<void> {
    if (this.#life.signal.aborted) return;
    // What a peer or its deadline throws is about the path.
    const kind = error instanceof CallFailed ? error.kind : 'no_path';
    this.#fault ??= this.#faultOf(kind, messageOf(error));
    await this.end();
  }

  #faultOf(kind: CallFault['kind'], detail: string): CallFault {
    return { kind, detail, atMs: this.#parts.clock.nowMs() };
  }

  async #hangUp(): Promise<void> {
    this.#isUp = false;
    this.#life.abort(new Error('the call is over'));
    this.#microphone?.stop();
    await Promise.all([this.#signalling.hangUp(), this.#peer?.close()]);
    this.#ear?.close();
    this.#ear = undefined;
  }
}

const pathLost = (): CallFailed => new CallFailed('path_lost', 'the path of the media broke');

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
