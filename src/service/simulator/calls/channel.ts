import type { Persona } from '../../../contract/index.ts';
import type { Clock } from '../../../platform/clock.ts';
import { VoiceActivityDetector } from '../../../voice/activity/index.ts';
import { createLineImpairment, type LineImpairment } from '../../../voice/line-impairment/index.ts';
import { createDecoder, TICKS_PER_MS, type Clip } from '../../../voice/opus/index.ts';
import type { PausedClip } from '../../../voice/speech/join-clips.ts';
import type { Utterance } from '../../../voice/turn-taking/index.ts';
import type { Pacer } from '../../../platform/pacer.ts';
import {
  CallError,
  CallRecording,
  Microphone,
  OutgoingCall,
  type CallMessage,
  type VoiceTarget,
} from '../../../voice/call/index.ts';
import type { SpeechSpan } from '../../../voice/speech-span.ts';
import type { Transcriber } from '../../../voice/transcription/index.ts';
import { isObject } from '../../../platform/json.ts';
import { TRACEPARENT } from '../../../platform/trace-context.ts';
import type { LineSpan, OnRecorded } from './build-recording.ts';
import { toSessionError } from './call-failure.ts';
import { CallLaneRecorder } from './call-lanes.ts';
import type { Channel, ClosedChannel, SaidLine } from '../channel.ts';
import { createStartCall } from '../sandbox/requests.ts';
import { createCallTraceparent, type SessionPlan } from '../session-plan.ts';
import type { AgentReply } from '../agent-reply.ts';
import { resolveTurnTimeouts, VoiceTurn, type TurnTimeouts } from './turn.ts';
import { compareReplies } from './heard-replies.ts';
import { ReplyAudio } from './reply-audio.ts';
import { makeDeliveryClips, type DeliveryClips } from './delivery-clips.ts';
import { planDelivery, type PlannedDelivery, type PlannedInterruption } from './delivery.ts';
import { Interjections } from './interjections.ts';
import { TranscriptComparison } from './transcript-comparison.ts';
import { VoiceUpdates } from './updates.ts';

/** Receivers may cut longer captions. */
const CAPTION_CHARS_MAX = 2_000;

export interface VoiceChannelOptions {
  clock: Clock;
  /** Shared by all calls of the simulation. */
  pacer: Pacer;
  target: VoiceTarget;
  /** Synthesizes a line of a persona. @throws SessionError. */
  speak: (line: string, persona: Persona, signal: AbortSignal) => Promise<Clip>;
  /** Transcribes what is heard of the agent; undefined if that is not compared. */
  transcriber?: Transcriber | undefined;
  /** Called when the call has ended. */
  onRecorded?: OnRecorded | undefined;
}

/**
 * Opens a channel to the agent over a call (spec 4.9, 6). @throws SessionError, or the signal's
 * reason.
 */
export async function openVoiceChannel(
  options: VoiceChannelOptions,
  plan: SessionPlan,
  userId: string | undefined,
  signal: AbortSignal,
): Promise<Channel> {
  // Loaded before the call, so that loading does not count as latency of the sandbox.
  const activity = new VoiceActivityDetector({ decoder: await createDecoder(), mode: 'full' });
  const impairment = await createLineImpairment(plan.persona.voice ?? {}, plan.sessionId);
  const channel = new VoiceChannel(options, plan, activity, impairment);
  try {
    await channel.open(createStartCall(plan, userId), signal);
    return channel;
  } catch (error) {
    await channel.close();
    throw error;
  }
}

/** A line of the user that was spoken, and its turn. */
interface SpokenTurn {
  line: SaidLine;
  planned: PlannedDelivery;
  clips: DeliveryClips;
  turn: VoiceTurn;
  speech: SpeechSpan;
}

class VoiceChannel implements Channel {
  readonly #notes: string[] = [];
  readonly #transcripts = new TranscriptComparison();
  readonly #options: VoiceChannelOptions;
  readonly #plan: SessionPlan;
  readonly #activity: VoiceActivityDetector;
  readonly #impairment: LineImpairment | undefined;
  readonly #call: OutgoingCall;
  readonly #updates: VoiceUpdates;
  readonly #recording = new CallRecording();
  readonly #replyAudio = new ReplyAudio(this.#recording);
  readonly #lines: LineSpan[] = [];
  readonly #lanes: CallLaneRecorder;
  readonly #timeouts: TurnTimeouts;
  /** Aborts with the reason when the call ends. */
  readonly #ended = new AbortController();
  #microphone: Microphone | undefined;
  #supportsCaptions = false;
  #connectedAtMs = 0;
  #turns = 0;
  #lineSentAtMs: number | undefined;
  /** The turn of an interruption that was spoken. */
  #interruption: { turn: VoiceTurn; utterance: Utterance; line: string } | undefined;
  /** When the last reply was complete. */
  #repliedAtMs: number | undefined;
  #ending: Promise<ClosedChannel> | undefined;

  constructor(
    options: VoiceChannelOptions,
    plan: SessionPlan,
    activity: VoiceActivityDetector,
    impairment: LineImpairment | undefined,
  ) {
    this.#options = options;
    this.#plan = plan;
    this.#activity = activity;
    this.#impairment = impairment;
    this.#updates = new VoiceUpdates(options.clock);
    this.#lanes = new CallLaneRecorder(options.clock);
    this.#timeouts = resolveTurnTimeouts(plan.scenario.limits?.turn_timeout_ms);
    const { target } = options;
    const headers = { ...target.headers, [TRACEPARENT]: createCallTraceparent(plan.sessionId) };
    this.#call = new OutgoingCall({
      ...options,
      target: { ...target, headers },
      onPacket: (packet) => {
        if (this.#ending) return;
        const levels = this.#activity.addPacket(packet);
        if (packet.payloadType !== this.#call.payloadType) return;
        this.#lanes.addReceived(packet, levels);
        if (options.onRecorded || options.transcriber) this.#recording.addReceived(packet);
      },
      onMessage: (message) => this.#updates.handle(message),
      onEnd: (error) => this.#end(error),
    });
  }

  get lineSentAtMs(): number | undefined {
    return this.#lineSentAtMs;
  }

  async open(startFields: CallMessage, signal: AbortSignal): Promise<void> {
    const { clock, pacer } = this.#options;
    const hangUp = (): void => void this.#call.hangUp();
    signal.throwIfAborted();
    signal.addEventListener('abort', hangUp, { once: true });
    try {
      const { ready } = await this.#call.place(startFields);
      const { metadata } = ready;
      this.#supportsCaptions = isObject(metadata) && metadata['captions'] === true;
      const peer = await this.#call.connect();
      this.#activity.payloadType = this.#call.payloadType;
      this.#connectedAtMs = clock.monotonicMs();
      this.#lanes.start();
      const onSent = (payload: Buffer, lateMs: number): void => {
        this.#lanes.noteSent(clock.monotonicMs(), lateMs);
        if (this.#options.onRecorded) this.#recording.addSent(payload, clock.monotonicMs());
      };
      const impairment = this.#impairment;
      this.#microphone = new Microphone({ peer, clock, pacer, onSent, impairment });
    } catch (error) {
      signal.throwIfAborted();
      throw error instanceof CallError ? toSessionError(error) : error;
    } finally {
      signal.removeEventListener('abort', hangUp);
    }
  }

  async say(line: SaidLine, signal: AbortSignal): Promise<AgentReply | undefined> {
    this.#lineSentAtMs = undefined;
    const planned = planDelivery(this.#plan, line, line.delivery);
    const { persona } = this.#plan;
    const clips = await this.#lanes.prepare(this.#repliedAtMs, () =>
      makeDeliveryClips(planned, (text) => this.#options.speak(text, persona, signal)),
    );
    await this.#waitForSilence(signal);
    if (planned.silenceMs > 0) await this.#staySilent(planned.silenceMs, signal);
    if (this.#hasHungUp()) return undefined;
    // What the agent said before the user's first line is not a reply to it.
    if (this.#turns === 0) this.#updates.beginTurn();
    this.#turns += 1;
    this.#beginReply();
    const turn = this.#createTurn();
    this.#sendCaption(line.text);
    const speech = await this.#speak(clips.line, signal);
    if (!speech) {
      this.#requireHangUp();
      return undefined;
    }
    this.#finishLine(speech, { kind: 'line', pauses: placePauses(clips.line, speech) });
    return this.#hearReply({ line, planned, clips, turn, speech }, signal);
  }

  async resume(signal: AbortSignal): Promise<AgentReply | undefined> {
    const interruption = this.#interruption;
    if (!interruption) throw new Error('The user does not interrupt the agent.');
    this.#interruption = undefined;
    const { turn, utterance } = interruption;
    const reply = await turn.reply(utterance, signal);
    const { spokenText: spokenBefore } = this.#updates;
    utterance.corrected = spokenBefore !== undefined;
    this.#transcripts.compare(interruption.line, this.#updates.userText);
    return this.#finishTurn({ ...reply, spokenBefore });
  }

  async listen(signal: AbortSignal): Promise<AgentReply | undefined> {
    this.#turns += 1;
    this.#updates.markLineSpoken();
    const atMs = this.#connectedAtMs;
    this.#lineSentAtMs = atMs;
    this.#replyAudio.begin(this.#turns, atMs);
    const turn = this.#createTurn();
    const helloMs = (this.#plan.scenario.user.hello_after_s ?? Infinity) * 1_000;
    const hasHeardNothing = (): boolean =>
      this.#activity.lastSpeechAtMs === -Infinity && this.#updates.agentText === '';
    const stopsWaiting = (): Promise<boolean> =>
      Promise.resolve(hasHeardNothing() && this.#options.clock.monotonicMs() - atMs >= helloMs);
    const reply = await turn.reply({ startMs: atMs, endMs: atMs }, signal, stopsWaiting);
    this.#finishTurn(reply);
    if (!turn.hasStoppedListening) return reply;
    this.#lanes.missGreeting({ startMs: atMs, endMs: this.#options.clock.monotonicMs() });
    this.#turns = 0;
    return undefined;
  }

  close(): Promise<ClosedChannel> {
    return (this.#ending ??= this.#hangUp());
  }

  /** Waits for the reply to a line that was spoken, and lets the user interrupt it. */
  async #hearReply(
    { line, planned, clips, turn, speech }: SpokenTurn,
    signal: AbortSignal,
  ): Promise<AgentReply> {
    const { countedTurn, text } = line;
    const interjections = new Interjections({
      ...{ clock: this.#options.clock, activity: this.#activity, updates: this.#updates },
      ...{ planned, countedTurn, lineEndMs: speech.endMs },
      sayBackchannel: () => void this.#sayBackchannel(clips.backchannel),
    });
    const isDue = (until: AbortSignal): Promise<boolean> => interjections.isInterruptionDue(until);
    const reply = await turn.reply(speech, signal, isDue);
    if (turn.hasAgentInterrupted)
      this.#notes.push(`The agent spoke over the user (turn ${this.#turns}).`);
    this.#transcripts.compare(text, this.#updates.userText);
    this.#noteUnsaid(planned, {
      backchannel: interjections.hasSaidBackchannel,
      interruption: turn.hasStoppedListening,
    });
    const { interruption } = planned;
    if (turn.hasStoppedListening && interruption && clips.interruption) {
      return this.#interrupt(reply, { ...interruption, clip: clips.interruption }, signal);
    }
    return this.#finishTurn(reply);
  }

  /** Notes what the user did not say during the reply, because the agent finished first. */
  #noteUnsaid(
    { interruption, backchannel }: PlannedDelivery,
    hasSaid: { interruption: boolean; backchannel: boolean },
  ): void {
    const start = `The agent had replied in turn ${this.#turns} before`;
    if (backchannel && !hasSaid.backchannel) {
      this.#notes.push(`${start} the backchannel of the user.`);
    }
    if (interruption && !hasSaid.interruption) {
      this.#notes.push(`${start} the user could interrupt it.`);
    }
  }

  /**
   * Speaks over the agent, in a turn of its own. Returns the interrupted reply: until the user has
   * finished, the agent may still send its text, or take back what it did not get to say.
   */
  async #interrupt(
    reply: AgentReply,
    { say, reason, clip }: PlannedInterruption & { clip: PausedClip },
    signal: AbortSignal,
  ): Promise<AgentReply> {
    this.#lineSentAtMs = undefined;
    this.#turns += 1;
    this.#updates.markInterrupted();
    const turn = this.#createTurn({ isInterruption: true });
    this.#sendCaption(say);
    const speech = await this.#speak(clip, signal);
    const { agentText: content, toolCalls } = this.#updates;
    if (!speech) {
      this.#requireHangUp();
      return { ...reply, content, toolCalls, hungUp: true };
    }
    this.#updates.beginTurn();
    const utterance = this.#finishLine(speech, { kind: 'interruption', pauses: [] });
    this.#replyAudio.begin(this.#turns, utterance.startMs);
    this.#interruption = { turn, utterance, line: say };
    return { ...reply, content, toolCalls, interruption: { line: say, reason } };
  }

  /** Notes that what the agent says from now on, or has sent as text of this turn, is the next reply. */
  #beginReply(): void {
    const hasText = this.#updates.agentText !== '';
    const nowMs = this.#options.clock.monotonicMs();
    this.#replyAudio.begin(this.#turns, hasText ? (this.#repliedAtMs ?? nowMs) : nowMs);
  }

  /** Ends a turn: from now on, the user decides what to say next. */
  #finishTurn(reply: AgentReply): AgentReply {
    this.#updates.beginTurn();
    this.#repliedAtMs = this.#options.clock.monotonicMs();
    return reply;
  }

  #sendCaption(text: string): void {
    if (!this.#supportsCaptions) return;
    this.#call.send({ type: 'caption', text: text.slice(0, CAPTION_CHARS_MAX) });
  }

  /** Throws unless the agent has hung up, which is the only good reason that a line was not said. */
  #requireHangUp(): void {
    if (!this.#hasHungUp()) throw new Error('the microphone stopped during the call');
  }

  /** Notes that a line of the current turn was said. */
  #finishLine(speech: SpeechSpan, about: Pick<Utterance, 'kind' | 'pauses'>): Utterance {
    this.#lineSentAtMs = speech.endMs;
    this.#lines.push({ turn: this.#turns, ...speech });
    const utterance = { turn: this.#turns, ...speech, ...about };
    this.#lanes.addUtterance(utterance);
    this.#updates.markLineSpoken();
    return utterance;
  }

  async #sayBackchannel(spoken: PausedClip | undefined): Promise<void> {
    const turn = this.#turns;
    const speech = spoken && (await this.#microphone?.say(spoken.clip));
    if (!speech) return;
    this.#lanes.addUtterance({ turn, ...speech, kind: 'backchannel', pauses: [] });
  }

  /** Says nothing for a while; the agent may speak meanwhile, and finishes. */
  async #staySilent(ms: number, signal: AbortSignal): Promise<void> {
    const until = AbortSignal.any([signal, this.#ended.signal]);
    await this.#options.clock.sleep(ms, until).catch(() => undefined);
    signal.throwIfAborted();
    await this.#waitForSilence(signal);
  }

  #createTurn({ isInterruption = false } = {}): VoiceTurn {
    const [activity, updates, timeouts] = [this.#activity, this.#updates, this.#timeouts];
    return new VoiceTurn({
      ...{ activity, updates, timeouts, clock: this.#options.clock, callEnded: this.#ended.signal },
      isInterruption,
      hasHungUp: () => this.#hasHungUp(),
      error: () => this.#call.error,
    });
  }

  /** Waits until the agent has finished speaking; it may greet the user first. */
  async #waitForSilence(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const { quietMs, greetMs, listenMsMax, pollMs } = this.#timeouts;
    const endMs = clock.monotonicMs() + listenMsMax;
    const until = AbortSignal.any([signal, this.#ended.signal]);
    const mayGreetMs = this.#turns === 0 ? this.#connectedAtMs + greetMs - quietMs : -Infinity;
    while (!until.aborted) {
      const nowMs = clock.monotonicMs();
      if (nowMs - Math.max(this.#activity.lastSpeechAtMs, mayGreetMs) >= quietMs) return;
      if (nowMs >= endMs) {
        this.#notes.push(`The agent was still speaking when turn ${this.#turns + 1} had to start.`);
        return;
      }
      await clock.sleep(pollMs, until).catch(() => undefined);
    }
    signal.throwIfAborted();
  }

  /** Speaks a line; returns undefined if the call ends first. */
  async #speak({ clip }: PausedClip, signal: AbortSignal): Promise<SpeechSpan | undefined> {
    const stopSpeaking = (): void => this.#microphone?.stop();
    signal.throwIfAborted();
    signal.addEventListener('abort', stopSpeaking, { once: true });
    try {
      const speech = await this.#microphone?.say(clip);
      signal.throwIfAborted();
      return speech;
    } finally {
      signal.removeEventListener('abort', stopSpeaking);
    }
  }

  /**
   * Whether the agent has hung up normally, at the end of the conversation. @throws SessionError if
   * the call failed.
   */
  #hasHungUp(): boolean {
    if (!this.#ended.signal.aborted) return false;
    const error: unknown = this.#ended.signal.reason;
    if (!(error instanceof CallError)) throw error;
    const hasSpoken = this.#updates.hasSpoken || this.#activity.lastSpeechAtMs > -Infinity;
    if (error.kind === 'dropped' && error.closeCode === 1000 && hasSpoken) return true;
    throw toSessionError(error);
  }

  #end(error: CallError): void {
    this.#ended.abort(error);
    this.#microphone?.stop();
  }

  async #hangUp(): Promise<ClosedChannel> {
    // What arrives while the call ends belongs to no turn.
    const { reportsTools } = this.#updates;
    const measured = this.#lanes.finish();
    if (measured) this.#replyAudio.finish(measured.agentSpeech, measured.turnTaking);
    this.#microphone?.stop();
    this.#impairment?.close();
    await this.#call.hangUp();
    this.#activity.close();
    const { transcriber, clock, onRecorded } = this.#options;
    onRecorded?.(this.#plan, { audio: this.#recording.audio(), lines: this.#lines });
    const audio = this.#replyAudio;
    return {
      reportsTools,
      notes: [...this.#notes, ...this.#transcripts.notes],
      turnTaking: measured?.turnTaking,
      compareReplies:
        transcriber &&
        ((turns, signal) => compareReplies(turns, { audio, transcriber, clock }, signal)),
    };
  }
}

/** Returns when the pauses of a spoken line were, on the monotonic clock. */
const placePauses = ({ clip, pauses }: PausedClip, { startMs }: SpeechSpan): SpeechSpan[] =>
  pauses.map(({ startTicks, endTicks }) => ({
    startMs: startMs + (startTicks - clip.speechStartTicks) / TICKS_PER_MS,
    endMs: startMs + (endTicks - clip.speechStartTicks) / TICKS_PER_MS,
  }));
