import type { Clock } from '../../src/platform/clock.ts';
import { FRAME_MS, FRAME_TICKS, type Clip, type Decoder } from '../../src/voice/opus/index.ts';
import type { AudioPacket } from '../../src/voice/peer/index.ts';
import { BACKCHANNEL_MS_MAX, isBackchannelText } from './backchannel.ts';
import type { CallRecord, TurnRecord } from './call-record.ts';
import type { CaptionDialogue } from './caption-dialogue.ts';
import {
  applyFaults,
  type ConversationBehavior,
  type ConversationControls,
  type ConversationFault,
  type Frame,
} from './conversation-behavior.ts';
import type { Media, SendPacket } from './media.ts';
import type { CaptionedReply, TurnReport } from './messages.ts';
import { NoiseFloor } from './noise-floor.ts';
import type { Repertoire } from './replies.ts';
import { SpeechOutput } from './speech-output.ts';
import { cutToSpokenPart } from './spoken-part.ts';
import { TurnListener, type HeardTurn } from './turn-listener.ts';

/** Dependencies and callbacks of a conversation. */
export interface ConversationOptions {
  clock: Clock;
  decoder: Decoder;
  /** What the agent does wrong; empty for an agent that takes turns as it should. */
  faults: readonly ConversationFault[];
  repertoire: Repertoire;
  record: CallRecord;
  scenarioId: string;
  /** Silence that ends a turn of the caller, in milliseconds. */
  hangOverMs: number;
  /** Time to stop speaking when the caller speaks over the agent, in milliseconds. */
  yieldMs: number;
  send: SendPacket;
  /** Undefined if this call has no captions. */
  captions: CaptionDialogue | undefined;
  /**
   * Called when a reply becomes audible, and again if the caller interrupts it; `onGreeting` for the
   * greeting.
   */
  onTurn: (turn: TurnReport) => void;
  onGreeting: (greeting: Clip, spoken?: string) => void;
}

/** Frames that are later than this are skipped, because the listener has concealed them already. */
const LATE_MS_MAX = 200;

/** Turns of a call that are recorded. */
const TURNS_MAX = 1_000;

/** A turn whose reply is not finished. */
interface PendingReply {
  heard: HeardTurn;
  /** Undefined until the reply is ready. */
  reply: Clip | undefined;
  record: TurnRecord;
  captioned: CaptionedReply | undefined;
  /** What was reported when the reply became audible; undefined before. */
  report: TurnReport | undefined;
}

/** A voice conversation: greets, listens, replies, and sends silence in between. */
export class Conversation implements Media {
  readonly #options: ConversationOptions;
  readonly #behavior: ConversationBehavior;
  readonly #output = new SpeechOutput();
  readonly #listener: TurnListener;
  readonly #startMs: number;
  #frameIndex = 0;
  #dueMs: number;
  #turns = 0;
  #pendingReply: PendingReply | undefined;
  /** The reply to a caption that the caller interrupted. */
  #interruptedReply: CaptionedReply | undefined;
  #isGreeted = false;
  /** When the agent stops for the caller, who speaks over it. */
  #yieldAtMs = Infinity;

  constructor(options: ConversationOptions) {
    this.#options = options;
    const { decoder, repertoire, clock } = options;
    this.#behavior = this.#createBehavior();
    const { hangOverMs, isLoud, onSpeaking, onTurn } = this.#behavior;
    this.#listener = new TurnListener({
      decoder,
      hangOverMs,
      isLoud,
      onSpeaking,
      onTurn,
      clipOf: (packet) => repertoire.clipOf(packet),
    });
    this.#startMs = clock.monotonicMs();
    this.#dueMs = this.#startMs;
    this.#output.speak(repertoire.greeting, this.#startMs);
  }

  get dueMs(): number {
    return this.#dueMs;
  }

  hear(packet: AudioPacket): void {
    this.#listener.hear(packet);
  }

  runDue(nowMs: number): void {
    this.#listener.checkIdle(nowMs);
    this.#behavior.actOnTime(nowMs);
    const lateMs = nowMs - this.#dueMs;
    if (lateMs > LATE_MS_MAX) this.#frameIndex += Math.floor(lateMs / FRAME_MS);
    const frame = this.#output.nextFrame(nowMs);
    const atMs = this.#options.clock.monotonicMs();
    const answers =
      frame.audibleFromMs === undefined
        ? undefined
        : this.#reportAudible(atMs + frame.audibleFromMs);
    this.#behavior.sendFrame({ ...frame, answers }, atMs);
    this.#frameIndex += 1;
    this.#dueMs = this.#behavior.frameDueMs();
  }

  close(): void {
    this.#listener.close();
  }

  /** Returns how the agent behaves, with what its faults change. */
  #createBehavior(): ConversationBehavior {
    const { hangOverMs, yieldMs, repertoire, faults } = this.#options;
    const noise = new NoiseFloor();
    const behavior: ConversationBehavior = {
      hangOverMs,
      yieldMs,
      isLoud: (levelDb) => noise.add(levelDb),
      onSpeaking: (startMs) => this.#onSpeaking(startMs),
      onTurn: (heard) => this.#onTurn(heard),
      onInterruption: (heard) => {
        this.#endInterruptedReply();
        this.#answer(heard);
      },
      actOnTime: (nowMs) => this.#yieldOnTime(nowMs),
      speakReply: (reply, fromMs) => this.#output.speak(reply, fromMs),
      frameDueMs: () => this.#startMs + this.#frameIndex * FRAME_MS,
      sendFrame: (frame, atMs) => this.#sendFrame(frame, atMs),
    };
    const controls: ConversationControls = {
      output: this.#output,
      repertoire,
      isHearing: () => this.#listener.isHearing,
      answer: (heard) => this.#answer(heard),
      reply: (heard, clip) => this.#say(this.#beginReply(heard, undefined), clip),
      endInterruptedReply: () => this.#endInterruptedReply(),
      forget: () => this.#forget(),
    };
    return applyFaults(behavior, faults, controls);
  }

  #sendFrame({ payload, audibleFromMs = 0, answers }: Frame, atMs: number): void {
    const isSent = this.#options.send(payload, this.#frameIndex * FRAME_TICKS);
    if (answers && isSent) answers.firstAudibleMs = atMs + audibleFromMs;
  }

  /** The caller has certainly started to speak. */
  #onSpeaking(startMs: number): void {
    if (!this.#output.isSpeaking) this.#dropReply();
    else if (!isBackchannelText(this.#options.captions?.pendingText ?? ''))
      this.#yieldAtMs = startMs + this.#behavior.yieldMs;
  }

  #yieldOnTime(nowMs: number): void {
    if (nowMs < this.#yieldAtMs) return;
    this.#yieldAtMs = Infinity;
    this.#output.pause();
  }

  /** The caller has stopped speaking. */
  #onTurn(heard: HeardTurn): void {
    this.#yieldAtMs = Infinity;
    if (!this.#output.isSpeaking) {
      this.#answer(heard);
    } else if (this.#isBackchannel(heard)) {
      this.#options.captions?.drop();
      this.#output.resume();
    } else {
      this.#behavior.onInterruption(heard);
    }
  }

  /** Whether the caller only showed that it listens, such as with "mhm". */
  #isBackchannel({ durationMs }: HeardTurn): boolean {
    const caption = this.#options.captions?.pendingText;
    return caption === undefined ? durationMs < BACKCHANNEL_MS_MAX : isBackchannelText(caption);
  }

  /** Drops a reply that is not audible yet. */
  #dropReply(): void {
    const pending = this.#pendingReply;
    if (pending && !pending.report) {
      this.#interruptedReply = pending.captioned;
      pending.record.isInterrupted = pending.reply !== undefined;
    }
    this.#output.stop();
    this.#pendingReply = undefined;
  }

  /** Drops the reply that the caller interrupted, and reports what was said of it. */
  #endInterruptedReply(): void {
    const { captions, repertoire, onTurn, onGreeting } = this.#options;
    const pending = this.#pendingReply;
    // Without a new caption, this is the rest of the caller's line, and the reply is said again.
    this.#interruptedReply = captions?.pendingText === undefined ? pending?.captioned : undefined;
    const { report, record, reply } = pending ?? {};
    const isReported = report ? !this.#interruptedReply : !pending && this.#isGreeted;
    if (record) record.isInterrupted = true;
    const { text } = reply ?? repertoire.greeting;
    const spoken = cutToSpokenPart(text, this.#output.spokenShare);
    if (isReported && report) onTurn({ ...report, spoken });
    else if (isReported) onGreeting(repertoire.greeting, spoken);
    this.#output.stop();
    this.#pendingReply = undefined;
  }

  #forget(): void {
    this.#options.captions?.forget();
    this.#interruptedReply = undefined;
    this.#turns = 0;
  }

  /**
   * Replies to a turn. A turn without a caption right after an interrupted reply is the rest of the
   * same line: the end of the turn was detected too early, so the reply is spoken again.
   */
  #answer(heard: HeardTurn): void {
    const { repertoire, scenarioId, captions } = this.#options;
    this.#turns += 1;
    const captioned = captions?.reply() ?? this.#interruptedReply;
    this.#interruptedReply = undefined;
    const pending = this.#beginReply(heard, captioned);
    const clip = repertoire.replyTo(heard.clipId, scenarioId, this.#turns);
    if (!captioned) this.#say(pending, clip);
    else void captioned.clip.then((spoken) => this.#say(pending, spoken ?? clip));
  }

  /** Records a turn whose reply is not ready yet. */
  #beginReply(heard: HeardTurn, captioned: CaptionedReply | undefined): PendingReply {
    const { record } = this.#options;
    const turn: TurnRecord = {
      heardClip: heard.clipId,
      speechStartMs: heard.startMs,
      speechEndMs: heard.endMs,
      replyClip: undefined,
      isCaptioned: captioned !== undefined,
      responseMs: undefined,
      firstAudibleMs: undefined,
      isInterrupted: false,
    };
    if (record.turns.push(turn) > TURNS_MAX) record.turns.shift();
    const pending = { heard, reply: undefined, record: turn, captioned, report: undefined };
    this.#pendingReply = pending;
    return pending;
  }

  #say(pending: PendingReply, reply: Clip): void {
    // The caller spoke again before the reply was ready.
    if (pending !== this.#pendingReply) return;
    pending.reply = reply;
    pending.record.replyClip = reply.id;
    const waitMs = pending.captioned?.delayMs ?? 0;
    this.#behavior.speakReply(reply, this.#options.clock.monotonicMs() + waitMs);
  }

  /**
   * Reports a reply, or the greeting, when it becomes audible. Returns the turn that it replies to;
   * undefined for the greeting.
   */
  #reportAudible(audibleMs: number): TurnRecord | undefined {
    const pending = this.#pendingReply;
    if (!pending?.reply) {
      if (!this.#isGreeted) this.#options.onGreeting(this.#options.repertoire.greeting);
      this.#isGreeted = true;
      return undefined;
    }
    const { heard, reply, record, captioned } = pending;
    const responseMs = audibleMs - heard.endMs;
    record.responseMs = responseMs;
    const { clipId } = heard;
    const text = captioned?.caption ?? (clipId && this.#options.repertoire.textOf(clipId));
    pending.report = { heard, text, reply, responseMs, captioned };
    if (captioned?.isReported) return record;
    if (captioned) captioned.isReported = true;
    this.#options.onTurn(pending.report);
    return record;
  }
}
