import { errorMessage } from '../../src/platform/error-origin.ts';
import type { Random } from '../../src/platform/random.ts';
import type { Clock } from '../../src/platform/clock.ts';
import { VoiceActivityDetector } from '../../src/voice/activity/index.ts';
import { createDecoder, type Clip } from '../../src/voice/opus/index.ts';
import type { Pacer } from '../../src/platform/pacer.ts';
import type { AudioPacket, Peer } from '../../src/voice/peer/index.ts';
import {
  CallError,
  Microphone,
  OutgoingCall,
  type VoiceTarget,
} from '../../src/voice/call/index.ts';
import type { CallFault, CallOrder, CallOutcome } from './fleet-messages.ts';
import { MediaStatistics, type MediaListener } from './media-statistics.ts';
import { TurnLoop } from './turn-loop.ts';

/** How to place a call. */
export interface LoadCallOptions {
  clock: Clock;
  pacer: Pacer;
  chance: Random;
  /** The clips that the caller can speak. */
  clips: readonly Clip[];
  target: VoiceTarget;
  order: CallOrder;
  counts: MediaListener;
}

/** The metadata of `start_call` in a load test. */
const metadata = {
  scenario_id: 'load',
  persona: 'a caller of a load test',
  audio_config: { codec: 'opus', sampleRate: 48_000 },
};

/** One call, from its scheduled time to the hang-up. */
export class LoadCall {
  readonly #options: LoadCallOptions;
  readonly #call: OutgoingCall;
  readonly #tally: MediaStatistics;
  readonly #life = new AbortController();
  #peer: Peer | undefined;
  #activity: VoiceActivityDetector | undefined;
  #microphone: Microphone | undefined;
  #talker: TurnLoop | undefined;
  #fault: CallFault | undefined;
  #times: Pick<CallOutcome, 'readyMs' | 'setupMs'> = {};
  #dueMs = 0;
  #wasUpAtStart = false;
  #ending: Promise<void> | undefined;

  constructor(options: LoadCallOptions) {
    this.#options = options;
    this.#call = new OutgoingCall({
      ...options,
      onPacket: (packet) => this.#hear(packet),
      onEnd: (why) => void this.#fail(why),
    });
    this.#tally = new MediaStatistics(options.clock, options.counts);
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
    this.#tally.begin(this.#peer, this.#life.signal);
    this.#talker?.beginWindow();
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
    const { nth, session } = this.#options.order;
    const { turnResponsesMs, turns } = this.#talker?.statistics() ?? {
      turnResponsesMs: [],
      turns: 0,
    };
    const media = this.#tally.statistics();
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
    const { clock, order, pacer } = this.#options;
    // Loaded before the call: the time that takes is not the sandbox's.
    const activity = new VoiceActivityDetector({ decoder: await createDecoder(), mode: 'sparse' });
    this.#activity = activity;
    const { readyMs } = await this.#call.place({ session_id: order.session, metadata });
    this.#times.readyMs = readyMs;
    const peer = (this.#peer = await this.#call.connect());
    activity.payloadType = this.#call.payloadType;
    this.#times.setupMs = clock.monotonicMs() - this.#dueMs;
    const onSent = (_payload: Buffer, lateMs: number): void => this.#tally.sent(lateMs);
    this.#microphone = new Microphone({ peer, clock, pacer, onSent });
    this.#talk(this.#microphone, activity);
  }

  #talk(microphone: Microphone, activity: VoiceActivityDetector): void {
    const { clock, chance, clips } = this.#options;
    const talker = new TurnLoop({ clock, chance, clips, microphone, activity, tally: this.#tally });
    this.#talker = talker;
    void talker.run(this.#life.signal).catch((error: unknown) => this.#fail(error));
  }

  #hear(packet: AudioPacket): void {
    this.#tally.hear(packet);
    this.#activity?.addPacket(packet);
  }

  /** Ends the call; only the first failure is reported. */
  async #fail(error: unknown): Promise<void> {
    if (this.#life.signal.aborted) return;
    const kind = error instanceof CallError ? error.kind : 'no_path';
    this.#fault ??= this.#faultOf(kind, messageOf(error));
    await this.end();
  }

  #faultOf(kind: CallFault['kind'], detail: string): CallFault {
    return { kind, detail, atMs: this.#options.clock.nowMs() };
  }

  async #hangUp(): Promise<void> {
    this.#life.abort(new Error('the call is over'));
    this.#microphone?.stop();
    await this.#call.hangUp();
    this.#activity?.close();
    this.#activity = undefined;
  }
}

const messageOf = (error: unknown): string => errorMessage(error);
