import type { Clock } from '../../src/platform/clock.ts';
import {
  silentFrame,
  FRAME_TICKS,
  type Clip,
  type Decoder,
  FRAME_MS,
} from '../../src/voice/opus/index.ts';
import type { AudioPacket } from '../../src/voice/peer/index.ts';
import { BACKCHANNEL_MS_MAX, isBackchannelText } from './backchannel.ts';
import type { CallFaults } from './call-faults.ts';
import type { CallRecord, TurnRecord } from './call-record.ts';
import type { CaptionDialogue } from './caption-dialogue.ts';
import type { CaptionedReply, TurnReport } from './messages.ts';
import { TurnListener, type HeardTurn } from './turn-listener.ts';
import type { Media, SendPacket } from './media.ts';
import { SpeechOutput, type SpokenFrame } from './speech-output.ts';
import type { Repertoire } from './replies.ts';
import { cutToSpokenPart } from './spoken-part.ts';

/** Dependencies and callbacks of a conversation. */
export interface ConversationOptions {
  clock: Clock;
  decoder: Decoder;
  faults: CallFaults;
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

/** A frame to send, and the turn whose reply becomes audible in it. */
type Frame = SpokenFrame & { answers?: TurnRecord };

/** A voice conversation: greets, listens, replies, and sends silence in between. */
export class Conversation implements Media {
  readonly #options: ConversationOptions;
  readonly #output = new SpeechOutput();
  readonly #listener: TurnListener;
  /** Frames that the fault `buffered_audio` holds back; its length is constant. */
  readonly #buffer: Frame[];
  readonly #startMs: number;
  #frameIndex = 0;
  #jitterMs = 0;
  #turns = 0;
  #pendingReply: PendingReply | undefined;
  /** The reply to a caption that the caller interrupted. */
  #interruptedReply: CaptionedReply | undefined;
  #isGreeted = false;
  /** When the agent stops for the caller who speaks over it, or speaks over the caller (a fault). */
  #yieldAtMs = Infinity;
  #talkOverAtMs = Infinity;
  #isTalkingOver = false;
  /** What the caller said while the agent did not yield (a fault). */
  #unanswered: HeardTurn | undefined;

  constructor(options: ConversationOptions) {
    this.#options = options;
    const { decoder, hangOverMs, repertoire, faults, clock } = options;
    this.#listener = new TurnListener({
      decoder,
      hangOverMs,
      clipOf: (packet) => repertoire.clipOf(packet),
      isDeafAfterNoise: faults.isDeafAfterNoise,
      onSpeaking: (startMs) => this.#onSpeaking(startMs),
      onTurn: (turn) => this.#onTurn(turn),
    });
    this.#buffer = Array.from({ length: faults.bufferedFrames }, () => ({ payload: silentFrame }));
    this.#startMs = clock.monotonicMs();
    this.#output.speak(repertoire.greeting, this.#startMs);
  }

  get dueMs(): number {
    return this.#startMs + this.#frameIndex * FRAME_MS + this.#jitterMs;
  }

  hear(packet: AudioPacket): void {
    this.#listener.hear(packet);
  }

  runDue(nowMs: number): void {
    this.#listener.checkIdle(nowMs);
    this.#actOnTime(nowMs);
    const lateMs = nowMs - this.dueMs;
    if (lateMs > LATE_MS_MAX) this.#frameIndex += Math.floor(lateMs / FRAME_MS);
    const frame: Frame = this.#output.nextFrame(nowMs);
    const atMs = this.#options.clock.monotonicMs();
    if (frame.audibleFromMs !== undefined) this.#reportAudible(frame, atMs + frame.audibleFromMs);
    this.#buffer.push(frame);
    const due = this.#buffer.shift();
    if (due) this.#sendFrame(due, atMs);
    this.#frameIndex += 1;
    this.#jitterMs = this.#options.faults.drawJitterMs();
  }

  close(): void {
    this.#listener.close();
  }

  /** Sends a frame, as far as the faults of the call allow. */
  #sendFrame({ payload, audibleFromMs = 0, answers }: Frame, atMs: number): void {
    const { media } = this.#options.faults;
    if (media === 'none') return;
    this.#options.send(media === 'silent' ? silentFrame : payload, this.#frameIndex * FRAME_TICKS);
    if (answers && media === 'good') answers.firstAudibleMs = atMs + audibleFromMs;
  }

  /** The caller has certainly started to speak. */
  #onSpeaking(startMs: number): void {
    const { faults, yieldMs, captions } = this.#options;
    if (!this.#output.isSpeaking) {
      this.#dropReply();
      this.#talkOverAtMs = startMs + (faults.talkOverAfterMs ?? Infinity);
    } else if (!faults.neverYields && !isBackchannelText(captions?.pendingText ?? '')) {
      this.#yieldAtMs = startMs + yieldMs;
    }
  }

  /** Yields, speaks over the caller, or replies late, when it is time to. */
  #actOnTime(nowMs: number): void {
    const { repertoire } = this.#options;
    if (nowMs >= this.#yieldAtMs) {
      this.#yieldAtMs = Infinity;
      this.#output.pause();
    }
    if (nowMs >= this.#talkOverAtMs) {
      this.#talkOverAtMs = Infinity;
      this.#isTalkingOver = this.#listener.isHearing;
      if (this.#isTalkingOver) this.#output.speak(repertoire.filler, nowMs);
    }
    const unanswered = this.#unanswered;
    if (!unanswered || this.#output.isSpeaking) return;
    this.#unanswered = undefined;
    this.#answer(unanswered);
  }

  /** The caller has stopped speaking. */
  #onTurn(heard: HeardTurn): void {
    const { faults, captions } = this.#options;
    this.#yieldAtMs = Infinity;
    this.#talkOverAtMs = Infinity;
    const isOverReply = this.#output.isSpeaking && !this.#isTalkingOver;
    this.#isTalkingOver = false;
    if (!isOverReply) {
      this.#answer(heard);
    } else if (this.#isBackchannel(heard)) {
      captions?.drop();
      this.#output.resume();
    } else if (faults.neverYields) {
      this.#unanswered = heard;
    } else {
      this.#endInterruptedReply();
      if (faults.forgetsAfterBargeIn) this.#startOver(heard);
      else this.#answer(heard);
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

  /** Greets the caller again, as if the call had just begun: a fault. */
  #startOver(heard: HeardTurn): void {
    const { captions, repertoire } = this.#options;
    captions?.forget();
    this.#interruptedReply = undefined;
    this.#turns = 0;
    const pending = this.#beginReply(heard, undefined);
    this.#say(pending, repertoire.greeting);
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
    const { clock, faults } = this.#options;
    pending.reply = reply;
    pending.record.replyClip = reply.id;
    const waitMs = faults.drawReplyDelayMs() + (pending.captioned?.delayMs ?? 0);
    this.#output.speak(reply, clock.monotonicMs() + waitMs);
  }

  /** Reports a reply, or the greeting, when it becomes audible. */
  #reportAudible(frame: Frame, audibleMs: number): void {
    if (this.#isTalkingOver) return;
    const pending = this.#pendingReply;
    if (!pending?.reply) {
      if (!this.#isGreeted) this.#options.onGreeting(this.#options.repertoire.greeting);
      this.#isGreeted = true;
      return;
    }
    const { heard, reply, record, captioned } = pending;
    const responseMs = audibleMs - heard.endMs;
    frame.answers = record;
    record.responseMs = responseMs;
    const { clipId } = heard;
    const text = captioned?.caption ?? (clipId && this.#options.repertoire.textOf(clipId));
    pending.report = { heard, text, reply, responseMs, captioned };
    if (captioned?.isReported) return;
    if (captioned) captioned.isReported = true;
    this.#options.onTurn(pending.report);
  }
}
