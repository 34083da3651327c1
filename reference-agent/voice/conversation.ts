import type { Clock } from '../../src/platform/clock.ts';
import {
  silentFrame,
  FRAME_TICKS,
  type Clip,
  type Decoder,
  FRAME_MS,
} from '../../src/voice/opus/index.ts';
import type { AudioPacket } from '../../src/voice/peer/index.ts';
import type { CallFaults } from './call-faults.ts';
import type { CallRecord, TurnRecord } from './call-record.ts';
import type { CaptionDialogue } from './caption-dialogue.ts';
import type { CaptionedReply } from './messages.ts';
import { TurnListener, type HeardTurn } from './turn-listener.ts';
import type { Media, SendPacket } from './media.ts';
import type { TurnReport } from './messages.ts';
import { SpeechOutput, type SpokenFrame } from './speech-output.ts';
import type { Repertoire } from './replies.ts';

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
  send: SendPacket;
  /** Undefined if this call has no captions. */
  captions: CaptionDialogue | undefined;
  /** Called when a reply becomes audible; `onGreeting` when the greeting does. */
  onTurn: (turn: TurnReport) => void;
  onGreeting: (greeting: Clip) => void;
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
  #nth = 0;
  #jitterMs = 0;
  #turns = 0;
  #pendingReply: PendingReply | undefined;
  /** The reply to a caption that the caller interrupted. */
  #interruptedReply: CaptionedReply | undefined;
  #isGreeted = false;

  constructor(options: ConversationOptions) {
    this.#options = options;
    const { decoder, hangOverMs, repertoire, faults, clock } = options;
    this.#listener = new TurnListener({
      decoder,
      hangOverMs,
      clipOf: (packet) => repertoire.clipOf(packet),
      onSpeaking: () => this.#interruptReply(),
      onTurn: (turn) => this.#answer(turn),
    });
    this.#buffer = Array.from({ length: faults.bufferedFrames }, () => ({ payload: silentFrame }));
    this.#startMs = clock.monotonicMs();
    this.#output.speak(repertoire.greeting, this.#startMs);
  }

  get dueMs(): number {
    return this.#startMs + this.#nth * FRAME_MS + this.#jitterMs;
  }

  hear(packet: AudioPacket): void {
    this.#listener.hear(packet);
  }

  runDue(nowMs: number): void {
    this.#listener.checkIdle(nowMs);
    if (nowMs - this.dueMs > LATE_MS_MAX) this.#nth += Math.floor((nowMs - this.dueMs) / FRAME_MS);
    const frame: Frame = this.#output.nextFrame(nowMs);
    const atMs = this.#options.clock.monotonicMs();
    if (frame.audibleFromMs !== undefined) this.#speak(frame, atMs + frame.audibleFromMs);
    this.#buffer.push(frame);
    const due = this.#buffer.shift();
    if (due) this.#put(due, atMs);
    this.#nth += 1;
    this.#jitterMs = this.#options.faults.drawJitterMs();
  }

  close(): void {
    this.#listener.close();
  }

  /** Sends a frame, as far as the faults of the call allow. */
  #put({ payload, audibleFromMs = 0, answers }: Frame, atMs: number): void {
    const { media } = this.#options.faults;
    if (media === 'none') return;
    this.#options.send(media === 'silent' ? silentFrame : payload, this.#nth * FRAME_TICKS);
    if (answers && media === 'good') answers.firstAudibleMs = atMs + audibleFromMs;
  }

  /** Stops speaking, because the caller speaks. */
  #interruptReply(): void {
    const pending = this.#pendingReply;
    if (this.#output.isSpeaking && pending) pending.record.isInterrupted = true;
    if (this.#output.isSpeaking || pending?.reply === undefined)
      this.#interruptedReply = pending?.captioned;
    this.#output.stop();
    this.#pendingReply = undefined;
  }

  /**
   * Replies to a turn. A turn without a caption right after an interrupted reply is the rest of the
   * same line: the end of the turn was detected too early, so the reply is spoken again.
   */
  #answer(heard: HeardTurn): void {
    const { repertoire, scenarioId, record, captions } = this.#options;
    this.#turns += 1;
    const captioned = captions?.reply() ?? this.#interruptedReply;
    this.#interruptedReply = undefined;
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
    const pending: PendingReply = { heard, reply: undefined, record: turn, captioned };
    this.#pendingReply = pending;
    const clip = repertoire.replyTo(heard.clipId, scenarioId, this.#turns);
    if (!captioned) this.#say(pending, clip);
    else void captioned.clip.then((spoken) => this.#say(pending, spoken ?? clip));
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
  #speak(frame: Frame, audibleMs: number): void {
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
    if (captioned?.isReported) return;
    if (captioned) captioned.isReported = true;
    const { clipId } = heard;
    const text = captioned?.caption ?? (clipId && this.#options.repertoire.textOf(clipId));
    this.#options.onTurn({ heard, text, reply, responseMs, captioned });
  }
}
