import type { PersonaVoice } from '../../../contract/index.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Pacer } from '../../../platform/pacer.ts';
import { TRACEPARENT } from '../../../platform/trace-context.ts';
import { VoiceActivityDetector } from '../../../voice/activity/index.ts';
import type { CallMessage, VoiceTarget } from '../../../voice/call/index.ts';
import { createLineImpairment, type LineImpairment } from '../../../voice/line-impairment/index.ts';
import { createDecoder, TICKS_PER_MS, type Clip } from '../../../voice/opus/index.ts';
import type { PausedClip } from '../../../voice/speech/join-clips.ts';
import type { SpeechSpan } from '../../../voice/speech-span.ts';
import type { Utterance } from '../../../voice/turn-taking/index.ts';
import type { Channel, ClosedChannel, SaidLine } from '../channel.ts';
import { createStartCall } from '../sandbox/requests.ts';
import { SessionError } from '../session-error.ts';
import { createCallTraceparent, type SessionPlan } from '../session-plan.ts';
import { hungUpAfter, type Replied, type ResumedTurnEnd, type TurnEnd } from '../turn-end.ts';
import { CallHistory, type CallHistoryOptions } from './call-history.ts';
import { CallConnection } from './connection.ts';
import { planDelivery, type PlannedDelivery, type PlannedInterruption } from './delivery.ts';
import { makeDeliveryClips, type DeliveryClips } from './delivery-clips.ts';
import { Hearing } from './hearing.ts';
import { Interjections } from './interjections.ts';
import { resolveTurnTimeouts, type VoiceTurn } from './turn.ts';

export interface VoiceChannelOptions extends CallHistoryOptions {
  clock: Clock;
  /** Shared by all calls of the simulation. */
  pacer: Pacer;
  target: VoiceTarget;
  /** Synthesizes a line in the voice of a persona. @throws SessionError. */
  speak: (line: string, voice: PersonaVoice, signal: AbortSignal) => Promise<Clip>;
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
  const impairment = await createLineImpairment(plan.persona.voice, plan.sessionId);
  const channel = new VoiceChannel(options, plan, activity, impairment);
  try {
    await channel.open(createStartCall(plan, userId), signal);
    return channel;
  } catch (error) {
    await channel.close();
    throw error;
  }
}

/** A turn whose line was spoken. */
interface SpokenTurn {
  line: SaidLine;
  planned: PlannedDelivery;
  clips: DeliveryClips;
  turn: VoiceTurn;
  speech: SpeechSpan;
}

/** The turn of an interruption that was spoken; the reply to it is still to come. */
interface SpokenInterruption {
  turn: VoiceTurn;
  utterance: Utterance;
  line: string;
}

/**
 * Talks to the agent in a call. The methods are in the order of a turn. `say` prepares the line, waits
 * until the user may speak, and speaks it. `#hearReply` waits for the reply. `#interrupt` speaks over
 * it, and `resume` waits for the reply to that.
 */
class VoiceChannel implements Channel {
  readonly #options: VoiceChannelOptions;
  readonly #plan: SessionPlan;
  readonly #connection: CallConnection;
  readonly #hearing: Hearing;
  readonly #history: CallHistory;
  #turns = 0;
  #lineSentAtMs: number | undefined;
  /** When the last reply was complete. */
  #repliedAtMs: number | undefined;
  #interruption: SpokenInterruption | undefined;
  #ending: Promise<ClosedChannel> | undefined;

  constructor(
    options: VoiceChannelOptions,
    plan: SessionPlan,
    activity: VoiceActivityDetector,
    impairment: LineImpairment | undefined,
  ) {
    const { clock, pacer, target } = options;
    this.#options = options;
    this.#plan = plan;
    this.#history = new CallHistory(options);
    const headers = { ...target.headers, [TRACEPARENT]: createCallTraceparent(plan.sessionId) };
    this.#connection = new CallConnection({
      clock,
      pacer,
      impairment,
      target: { ...target, headers },
      onPacket: (packet) => {
        if (this.#ending) return;
        const levels = activity.addPacket(packet);
        const isAudio = packet.payloadType === this.#connection.payloadType;
        if (isAudio) this.#history.addReceived(packet, levels);
      },
      onMessage: (message) => this.#hearing.updates.handle(message),
      onSent: (payload, lateMs) => this.#history.addSent(payload, lateMs),
    });
    const timeouts = resolveTurnTimeouts(plan.scenario.limits.turn_timeout_ms);
    this.#hearing = new Hearing({ clock, activity, timeouts, connection: this.#connection });
  }

  get lineSentAtMs(): number | undefined {
    return this.#lineSentAtMs;
  }

  async open(startFields: CallMessage, signal: AbortSignal): Promise<void> {
    const onConnected = (): void => {
      this.#hearing.activity.payloadType = this.#connection.payloadType;
      this.#history.start();
    };
    await this.#connection.open(startFields, onConnected, signal);
  }

  async listen(signal: AbortSignal): Promise<TurnEnd | undefined> {
    this.#turns += 1;
    const { updates } = this.#hearing;
    updates.markLineSpoken();
    const atMs = this.#connection.connectedAtMs;
    this.#lineSentAtMs = atMs;
    this.#history.beginReply(this.#turns, atMs);
    const turn = this.#hearing.beginTurn();
    const helloMs = this.#plan.scenario.user.hello_after_s * 1_000;
    const stopsWaiting = (): Promise<boolean> =>
      Promise.resolve(!this.#hearing.hasHeardAgent && this.#nowMs() - atMs >= helloMs);
    const missGreeting = (): void =>
      this.#history.missGreeting({ startMs: atMs, endMs: this.#nowMs() });
    const whole = { startMs: atMs, endMs: atMs };
    const end = await turn.reply(whole, signal, stopsWaiting).catch((error: unknown) => {
      const isTimeout = error instanceof SessionError && error.endReason === 'timeout';
      if (isTimeout && !this.#hearing.hasHeardAgent) missGreeting();
      throw error;
    });
    this.#finishTurn(end);
    if (!turn.hasStoppedListening) return end;
    missGreeting();
    this.#turns = 0;
    return undefined;
  }

  async say(line: SaidLine, signal: AbortSignal): Promise<TurnEnd | undefined> {
    this.#lineSentAtMs = undefined;
    const planned = planDelivery(this.#plan, line, line.delivery);
    const { voice } = this.#plan.persona;
    const clips = await this.#history.prepare(this.#repliedAtMs, () =>
      makeDeliveryClips(planned, (text) => this.#options.speak(text, voice, signal)),
    );
    await this.#waitToSpeak(planned, signal);
    if (this.#hearing.hasHungUp()) return undefined;
    const turn = this.#beginTurn();
    const speech = await this.#speak(line.text, clips.line, signal);
    if (!speech) return undefined;
    this.#finishLine(speech, { kind: 'line', pauses: placePauses(clips.line, speech) });
    return this.#hearReply({ line, planned, clips, turn, speech }, signal);
  }

  /** Waits until it is the user's turn to speak: after a greeting, and after a planned silence. */
  async #waitToSpeak({ silenceMs }: PlannedDelivery, signal: AbortSignal): Promise<void> {
    await this.#waitForSilence(signal);
    if (silenceMs === 0) return;
    const until = AbortSignal.any([signal, this.#connection.ended]);
    await this.#options.clock.sleep(silenceMs, until).catch(() => undefined);
    signal.throwIfAborted();
    // The agent may have spoken meanwhile.
    await this.#waitForSilence(signal);
  }

  async #waitForSilence(signal: AbortSignal): Promise<void> {
    const isFirstLine = this.#turns === 0;
    if (await this.#hearing.waitForSilence({ isFirstLine }, signal)) return;
    this.#history.note(`The agent was still speaking when turn ${this.#turns + 1} had to start.`);
  }

  /**
   * Begins the turn of a line. The reply to it is what the agent says from now on, or has sent as
   * text of this turn.
   */
  #beginTurn(): VoiceTurn {
    const { updates } = this.#hearing;
    // What the agent said before the user's first line is not a reply to it.
    if (this.#turns === 0) updates.beginTurn();
    this.#turns += 1;
    const nowMs = this.#nowMs();
    const hasText = updates.agentText !== '';
    this.#history.beginReply(this.#turns, hasText ? (this.#repliedAtMs ?? nowMs) : nowMs);
    return this.#hearing.beginTurn();
  }

  /**
   * Speaks a line. Returns undefined if the agent hangs up first.
   * @throws SessionError if the call fails, or the signal's reason.
   */
  async #speak(
    text: string,
    { clip }: PausedClip,
    signal: AbortSignal,
  ): Promise<SpeechSpan | undefined> {
    this.#connection.sendCaption(text);
    const speech = await this.#connection.play(clip, signal);
    if (!speech && !this.#hearing.hasHungUp()) {
      throw new Error('the microphone stopped during the call');
    }
    return speech;
  }

  /** Notes that a line of the current turn was said. */
  #finishLine(speech: SpeechSpan, about: Pick<Utterance, 'kind' | 'pauses'>): Utterance {
    this.#lineSentAtMs = speech.endMs;
    const utterance = { turn: this.#turns, ...speech, ...about };
    this.#history.addLine(utterance);
    this.#hearing.updates.markLineSpoken();
    return utterance;
  }

  /** Waits for the reply to a line that was spoken, and lets the user interrupt it. */
  async #hearReply(
    { line, planned, clips, turn, speech }: SpokenTurn,
    signal: AbortSignal,
  ): Promise<TurnEnd> {
    const { activity, updates } = this.#hearing;
    const interjections = new Interjections({
      clock: this.#options.clock,
      activity,
      updates,
      planned,
      countedTurn: line.countedTurn,
      lineEndMs: speech.endMs,
      sayBackchannel: () => void this.#sayBackchannel(clips.backchannel),
    });
    const isDue = (until: AbortSignal): Promise<boolean> => interjections.isInterruptionDue(until);
    const end = await turn.reply(speech, signal, isDue);
    if (turn.hasAgentInterrupted)
      this.#history.note(`The agent spoke before the user had finished (turn ${this.#turns}).`);
    this.#history.compareTranscript(line.text, updates.userText);
    this.#noteUnsaid(planned, {
      backchannel: interjections.hasSaidBackchannel,
      interruption: turn.hasStoppedListening,
    });
    const { interruption } = planned;
    const isInterrupted = turn.hasStoppedListening && end.kind === 'replied';
    if (isInterrupted && interruption && clips.interruption) {
      return this.#interrupt(end, { ...interruption, clip: clips.interruption }, signal);
    }
    return this.#finishTurn(end);
  }

  /** Says that the user listens, in the turn of the line. */
  async #sayBackchannel(spoken: PausedClip | undefined): Promise<void> {
    const turn = this.#turns;
    const speech = spoken && (await this.#connection.playToEnd(spoken.clip));
    if (speech) this.#history.addBackchannel(turn, speech);
  }

  /** Notes what the user did not say during the reply, because the agent finished first. */
  #noteUnsaid(
    { interruption, backchannel }: PlannedDelivery,
    hasSaid: { interruption: boolean; backchannel: boolean },
  ): void {
    const start = `The agent had replied in turn ${this.#turns} before`;
    if (backchannel && !hasSaid.backchannel) {
      this.#history.note(`${start} the backchannel of the user.`);
    }
    if (interruption && !hasSaid.interruption) {
      this.#history.note(`${start} the user could interrupt it.`);
    }
  }

  /**
   * Speaks over the agent, as a separate turn. Returns the interrupted reply only after the user has
   * finished, because until then the agent may still send its text, or retract what it did not say.
   */
  async #interrupt(
    { reply }: Replied,
    { say: line, reason, clip }: PlannedInterruption & { clip: PausedClip },
    signal: AbortSignal,
  ): Promise<TurnEnd> {
    const { updates } = this.#hearing;
    this.#lineSentAtMs = undefined;
    this.#turns += 1;
    updates.markInterrupted();
    const turn = this.#hearing.beginTurn({ isInterruption: true });
    const speech = await this.#speak(line, clip, signal);
    const { agentText: content, toolCalls } = updates;
    const interrupted = { ...reply, content, toolCalls };
    if (!speech) return hungUpAfter(interrupted);
    updates.beginTurn();
    const utterance = this.#finishLine(speech, { kind: 'interruption', pauses: [] });
    this.#history.beginReply(this.#turns, utterance.startMs);
    this.#interruption = { turn, utterance, line };
    return { kind: 'interrupted', reply: interrupted, line, reason };
  }

  async resume(signal: AbortSignal): Promise<ResumedTurnEnd> {
    const interruption = this.#interruption;
    if (!interruption) throw new Error('The user does not interrupt the agent.');
    this.#interruption = undefined;
    const { turn, utterance, line } = interruption;
    const end = await turn.reply(utterance, signal);
    const { spokenText: spokenBefore, userText } = this.#hearing.updates;
    utterance.corrected = spokenBefore !== undefined;
    this.#history.compareTranscript(line, userText);
    return { ...this.#finishTurn(end), spokenBefore };
  }

  /** Ends a turn: from now on, the user decides what to say next. */
  #finishTurn<End extends TurnEnd>(end: End): End {
    this.#hearing.updates.beginTurn();
    this.#repliedAtMs = this.#nowMs();
    return end;
  }

  close(): Promise<ClosedChannel> {
    return (this.#ending ??= this.#hangUp());
  }

  async #hangUp(): Promise<ClosedChannel> {
    // What arrives while the call ends belongs to no turn.
    const { reportsTools } = this.#hearing.updates;
    this.#history.measure();
    await this.#connection.close();
    this.#hearing.activity.close();
    return { reportsTools, ...this.#history.close(this.#plan) };
  }

  #nowMs(): number {
    return this.#options.clock.monotonicMs();
  }
}

/** Returns when the pauses of a spoken line were, on the monotonic clock. */
const placePauses = ({ clip, pauses }: PausedClip, { startMs }: SpeechSpan): SpeechSpan[] =>
  pauses.map(({ startTicks, endTicks }) => ({
    startMs: startMs + (startTicks - clip.speechStartTicks) / TICKS_PER_MS,
    endMs: startMs + (endTicks - clip.speechStartTicks) / TICKS_PER_MS,
  }));
