import type { Clock } from '../../platform/clock.ts';
import { VoiceActivityDetector } from '../../voice/activity/index.ts';
import { createDecoder, type Clip } from '../../voice/opus/index.ts';
import type { Pacer } from '../../platform/pacer.ts';
import {
  CallFailed,
  CallRecording,
  Microphone,
  OutgoingCall,
  type CallAudio,
  type CallMessage,
  type Said,
  type VoiceTarget,
} from '../../voice/call/index.ts';
import { isObject } from '../../platform/json.ts';
import type { Channel } from './channel.ts';
import type { SessionPlan } from './session-plan.ts';
import type { AgentReply } from './simulated-session.ts';
import { callFault } from './voice-fault.ts';
import { voicePatience, type VoicePatience } from './voice-patience.ts';
import { VoiceTurn } from './voice-turn.ts';
import { VoiceUnderstanding } from './voice-understanding.ts';
import { VoiceUpdates } from './voice-updates.ts';

/** What is longer may be cut by who takes it. */
const captionCharsMax = 2_000;

/** What calls are held with. */
export interface VoiceChannelParts {
  clock: Clock;
  /** Of all calls of the run. */
  pacer: Pacer;
  target: VoiceTarget;
  /** A line as it is to be spoken. @throws SessionFault. */
  speak: (line: string, signal: AbortSignal) => Promise<Clip>;
  /** Told what came and went, when the call is over. */
  onAudio?: ((plan: SessionPlan, audio: CallAudio) => void) | undefined;
}

/** A conversation by a call (spec 4.9, 6). @throws SessionFault, or the signal's reason. */
export async function openVoiceChannel(
  parts: VoiceChannelParts,
  plan: SessionPlan,
  userId: string | undefined,
  signal: AbortSignal,
): Promise<Channel> {
  // Loaded before the call: the time that takes is not the sandbox's.
  const activity = new VoiceActivityDetector({ decoder: await createDecoder(), mode: 'full' });
  const channel = new VoiceChannel(parts, plan, activity);
  try {
    await channel.open(startOf(plan, userId), signal);
    return channel;
  } catch (error) {
    await channel.close();
    throw error;
  }
}

/** What `start_call` has beside its type. */
function startOf({ sessionId, scenario, persona }: SessionPlan, userId?: string): CallMessage {
  return {
    ...(userId !== undefined && { user_id: userId }),
    session_id: sessionId,
    metadata: {
      ...scenario.metadata,
      scenario_id: scenario.id,
      persona: persona.name,
      // That we can send captions: an extension.
      captions: true,
      audio_config: { codec: 'opus', sampleRate: 48_000 },
    },
  };
}

class VoiceChannel implements Channel {
  readonly #notes: string[] = [];
  readonly #understanding = new VoiceUnderstanding();
  readonly #parts: VoiceChannelParts;
  readonly #plan: SessionPlan;
  readonly #activity: VoiceActivityDetector;
  readonly #call: OutgoingCall;
  readonly #updates: VoiceUpdates;
  readonly #recording = new CallRecording();
  readonly #patience: VoicePatience;
  /** Aborts when the call is over, with why. */
  readonly #over = new AbortController();
  #microphone: Microphone | undefined;
  #takesCaptions = false;
  #upSinceMs = 0;
  #turns = 0;
  #saidAtMs: number | undefined;
  #ending: Promise<void> | undefined;

  constructor(parts: VoiceChannelParts, plan: SessionPlan, activity: VoiceActivityDetector) {
    this.#parts = parts;
    this.#plan = plan;
    this.#activity = activity;
    this.#updates = new VoiceUpdates(parts.clock);
    this.#patience = voicePatience(plan.scenario.limits?.turn_timeout_ms);
    this.#call = new OutgoingCall({
      ...parts,
      onPacket: (packet) => {
        if (this.#ending) return;
        this.#activity.hear(packet);
        if (parts.onAudio && packet.payloadType === this.#call.payloadType) {
          this.#recording.heard(packet);
        }
      },
      onMessage: (message) => this.#updates.hear(message),
      onEnd: (why) => this.#end(why),
    });
  }

  get notes(): string[] {
    return [...this.#notes, ...this.#understanding.notes];
  }

  get saidAtMs(): number | undefined {
    return this.#saidAtMs;
  }

  get tellsTools(): boolean {
    return this.#updates.tellsTools;
  }

  async open(asked: CallMessage, signal: AbortSignal): Promise<void> {
    const { clock, pacer } = this.#parts;
    const hangUp = (): void => void this.#call.hangUp();
    signal.throwIfAborted();
    signal.addEventListener('abort', hangUp, { once: true });
    try {
      const { ready } = await this.#call.place(asked);
      const { metadata } = ready;
      this.#takesCaptions = isObject(metadata) && metadata['captions'] === true;
      const peer = await this.#call.connect();
      this.#activity.payloadType = this.#call.payloadType;
      this.#upSinceMs = clock.monotonicMs();
      const onSent = (payload: Buffer): void => {
        if (this.#parts.onAudio) this.#recording.sent(payload);
      };
      this.#microphone = new Microphone({ peer, clock, pacer, onSent });
    } catch (error) {
      signal.throwIfAborted();
      throw error instanceof CallFailed ? callFault(error) : error;
    } finally {
      signal.removeEventListener('abort', hangUp);
    }
  }

  async say(line: string, signal: AbortSignal): Promise<AgentReply | undefined> {
    this.#saidAtMs = undefined;
    const clip = await this.#parts.speak(line, signal);
    await this.#hearOut(signal);
    if (this.#hasHungUp()) return undefined;
    // What the agent said before the user's first line answers nothing.
    if (this.#turns === 0) this.#updates.next();
    this.#turns += 1;
    const turn = this.#turn();
    if (this.#takesCaptions)
      this.#call.send({ type: 'caption', text: line.slice(0, captionCharsMax) });
    const said = await this.#speak(clip, signal);
    if (!said) {
      if (this.#hasHungUp()) return undefined;
      throw new Error('the microphone stopped in a call that goes on');
    }
    this.#saidAtMs = said.untilMs;
    this.#updates.lineIsSaid();
    const reply = await turn.reply(said, signal);
    if (turn.wasSpokenOver)
      this.#notes.push(`The agent spoke over the user (line ${this.#turns}).`);
    this.#understanding.compare(line, this.#updates.heard);
    this.#updates.next();
    return reply;
  }

  async listen(signal: AbortSignal): Promise<AgentReply | undefined> {
    if (this.#plan.scenario.initial_messages?.at(-1)?.role === 'assistant') return undefined;
    this.#turns += 1;
    this.#updates.lineIsSaid();
    const atMs = this.#upSinceMs;
    this.#saidAtMs = atMs;
    const reply = await this.#turn().reply({ atMs, untilMs: atMs }, signal);
    this.#updates.next();
    return reply;
  }

  close(): Promise<void> {
    return (this.#ending ??= this.#hangUp());
  }

  #turn(): VoiceTurn {
    const [activity, updates, patience] = [this.#activity, this.#updates, this.#patience];
    return new VoiceTurn({
      ...{ activity, updates, patience, clock: this.#parts.clock, over: this.#over.signal },
      hasHungUp: () => this.#hasHungUp(),
      error: () => this.#call.error,
    });
  }

  /** Waits until the agent has said what it had to say; who picks up may greet first. */
  async #hearOut(signal: AbortSignal): Promise<void> {
    const { clock } = this.#parts;
    const { quietMs, greetMs, hearOutMsMax, lookEveryMs } = this.#patience;
    const endMs = clock.monotonicMs() + hearOutMsMax;
    const until = AbortSignal.any([signal, this.#over.signal]);
    const mayGreetMs = this.#turns === 0 ? this.#upSinceMs + greetMs - quietMs : -Infinity;
    while (!until.aborted) {
      const nowMs = clock.monotonicMs();
      if (nowMs - Math.max(this.#activity.lastSpeechAtMs, mayGreetMs) >= quietMs) return;
      if (nowMs >= endMs) {
        this.#notes.push(`The agent did not stop to speak before line ${this.#turns + 1}.`);
        return;
      }
      await clock.sleep(lookEveryMs, until).catch(() => undefined);
    }
    signal.throwIfAborted();
  }

  /** Says a line; undefined where the call ends before it is said. */
  async #speak(clip: Clip, signal: AbortSignal): Promise<Said | undefined> {
    const hush = (): void => this.#microphone?.stop();
    signal.throwIfAborted();
    signal.addEventListener('abort', hush, { once: true });
    try {
      const said = await this.#microphone?.say(clip);
      signal.throwIfAborted();
      return said;
    } finally {
      signal.removeEventListener('abort', hush);
    }
  }

  /** Whether the agent has hung up, as one does who has nothing more to say. @throws SessionFault. */
  #hasHungUp(): boolean {
    if (!this.#over.signal.aborted) return false;
    const why: unknown = this.#over.signal.reason;
    if (!(why instanceof CallFailed)) throw why;
    const hasSpoken = this.#updates.hasSpoken || this.#activity.lastSpeechAtMs > -Infinity;
    if (why.kind === 'dropped' && why.closeCode === 1000 && hasSpoken) return true;
    throw callFault(why);
  }

  #end(why: CallFailed): void {
    this.#over.abort(why);
    this.#microphone?.stop();
  }

  async #hangUp(): Promise<void> {
    this.#microphone?.stop();
    await this.#call.hangUp();
    this.#activity.close();
    this.#parts.onAudio?.(this.#plan, this.#recording.audio());
  }
}
