import { errorMessage } from '../../src/platform/error-origin.ts';
import type { CallNetwork } from '../../src/contract/index.ts';
import type { Random } from '../../src/platform/random.ts';
import type { Clock } from '../../src/platform/clock.ts';
import { VoiceActivityDetector } from '../../src/voice/activity/index.ts';
import { createLineImpairment } from '../../src/voice/line-impairment/index.ts';
import { createDecoder, type Clip } from '../../src/voice/opus/index.ts';
import type { Pacer } from '../../src/platform/pacer.ts';
import type { AudioPacket, Peer } from '../../src/voice/peer/index.ts';
import {
  CallError,
  Microphone,
  OutgoingCall,
  type VoiceTarget,
} from '../../src/voice/call/index.ts';
import { TRACEPARENT, traceIdOf } from '../../src/platform/trace-context.ts';
import type { CallFault, CallOrder, CallOutcome } from './fleet-messages.ts';
import { MediaStatistics, type MediaListener } from './media-statistics.ts';
import { TurnLoop } from './turn-loop.ts';

/** How to place a call. */
export interface LoadCallOptions {
  clock: Clock;
  pacer: Pacer;
  random: Random;
  /** The clips that the caller can speak. */
  clips: readonly Clip[];
  target: VoiceTarget;
  /** Network from the caller to the sandbox; undefined for the real one alone. */
  network: CallNetwork | undefined;
  order: CallOrder;
  listener: MediaListener;
}

/** The metadata of `start_call` in a load test. */
const metadata = {
  scenario_id: 'load',
  persona: 'a caller of a load test',
  audio_config: { codec: 'opus', sampleRate: 48_000 },
};

/**
 * Time for the sandbox to close a call after the caller hangs up. Until then, the call counts toward
 * the limit of the sandbox, which the next step of a search would exceed too early.
 */
const CLOSE_MS_MAX = 10_000;

/** One call, from its scheduled time to the hang-up. */
export class LoadCall {
  readonly #options: LoadCallOptions;
  readonly #call: OutgoingCall;
  readonly #media: MediaStatistics;
  readonly #life = new AbortController();
  #peer: Peer | undefined;
  #activity: VoiceActivityDetector | undefined;
  #microphone: Microphone | undefined;
  #turnLoop: TurnLoop | undefined;
  #fault: CallFault | undefined;
  #times: Pick<CallOutcome, 'readyMs' | 'setupMs'> = {};
  #dueMs = 0;
  #wasUpAtStart = false;
  #isClosed = false;
  #ending: Promise<void> | undefined;

  constructor(options: LoadCallOptions) {
    this.#options = options;
    const { target, order } = options;
    this.#call = new OutgoingCall({
      ...options,
      target: { ...target, headers: { ...target.headers, [TRACEPARENT]: order.traceparent } },
      onPacket: (packet) => this.#onPacket(packet),
      onEnd: (error) => void this.#fail(error),
      closeMsMax: CLOSE_MS_MAX,
    });
    this.#media = new MediaStatistics(options.clock, options.listener);
  }

  /** Whether media flows, as far as is known. */
  get isUp(): boolean {
    return this.#call.isUp;
  }

  /** Places the call when it is due. Resolves when it has connected or failed. */
  async place(): Promise<void> {
    const { clock, order } = this.#options;
    const waitMs = order.dueAtMs - clock.nowMs();
    this.#dueMs = clock.monotonicMs() + waitMs;
    try {
      await clock.sleep(Math.max(0, waitMs), this.#life.signal);
      await this.#connect();
    } catch (error) {
      await this.#fail(error);
    }
  }

  /** Starts the measured window. */
  beginWindow(): void {
    if (!this.#peer || !this.isUp) return;
    this.#wasUpAtStart = true;
    this.#media.begin(this.#peer, this.#life.signal);
    this.#turnLoop?.beginWindow();
  }

  /** Hangs up. */
  end(): Promise<void> {
    return (this.#ending ??= this.#hangUp());
  }

  /** Ends the call at the end of the window. Returns a function that computes the result later. */
  close(): () => CallOutcome {
    const isHeld = this.#wasUpAtStart && this.#fault === undefined;
    void this.end();
    return () => this.#outcome(isHeld);
  }

  #outcome(wasHeld: boolean): CallOutcome {
    const { nth, session, traceparent } = this.#options.order;
    const { turnResponsesMs, turns } = this.#turnLoop?.statistics() ?? {
      turnResponsesMs: [],
      turns: 0,
    };
    const media = this.#media.statistics();
    const isSilent = wasHeld && media.received === 0;
    const fault = isSilent
      ? this.#createFault('no_media', 'no audio was received during the window')
      : this.#fault;
    const firstMs = this.#media.firstPacketAtMs;
    return {
      nth,
      session,
      traceId: traceIdOf(traceparent),
      ...(fault && { fault }),
      isConnected: this.#times.setupMs !== undefined,
      isHeld: wasHeld && !isSilent,
      isClosed: this.#isClosed,
      ...this.#times,
      ...(firstMs !== undefined && { firstPacketMs: firstMs - this.#dueMs }),
      ...media,
      turns,
      turnResponsesMs: [...turnResponsesMs],
      unansweredTurns: turns - turnResponsesMs.length,
    };
  }

  async #connect(): Promise<void> {
    const { clock, order, pacer, network } = this.#options;
    // The decoder is loaded before the call, so that loading does not count as setup time.
    const activity = new VoiceActivityDetector({ decoder: await createDecoder(), mode: 'sparse' });
    this.#activity = activity;
    const impairment = await createLineImpairment({ network }, order.session);
    const { readyMs } = await this.#call.place({ session_id: order.session, metadata });
    this.#times.readyMs = readyMs;
    const peer = (this.#peer = await this.#call.connect());
    activity.payloadType = this.#call.payloadType;
    this.#times.setupMs = clock.monotonicMs() - this.#dueMs;
    const onSent = (_payload: Buffer, lateMs: number): void => this.#media.addSent(lateMs);
    this.#microphone = new Microphone({ peer, clock, pacer, onSent, impairment });
    this.#startTurns(this.#microphone, activity);
  }

  #startTurns(microphone: Microphone, activity: VoiceActivityDetector): void {
    const { clock, random, clips } = this.#options;
    const turnLoop = new TurnLoop({
      clock,
      random,
      clips,
      microphone,
      activity,
      media: this.#media,
    });
    this.#turnLoop = turnLoop;
    void turnLoop.run(this.#life.signal).catch((error: unknown) => this.#fail(error));
  }

  #onPacket(packet: AudioPacket): void {
    this.#media.addPacket(packet);
    this.#activity?.addPacket(packet);
  }

  /** Ends the call; only the first failure is reported. */
  async #fail(error: unknown): Promise<void> {
    if (this.#life.signal.aborted) return;
    const kind = error instanceof CallError ? error.kind : 'no_path';
    this.#fault ??= this.#createFault(kind, errorMessage(error));
    await this.end();
  }

  #createFault(kind: CallFault['kind'], detail: string): CallFault {
    return { kind, detail, atMs: this.#options.clock.nowMs() };
  }

  async #hangUp(): Promise<void> {
    this.#life.abort(new Error('the call is over'));
    this.#microphone?.stop();
    this.#isClosed = await this.#call.hangUp();
    this.#activity?.close();
    this.#activity = undefined;
  }
}
