import type { Clock } from '../../../platform/clock.ts';
import type { LevelWindow } from '../../../voice/activity/index.ts';
import { CallRecording } from '../../../voice/call/index.ts';
import type { AudioPacket } from '../../../voice/peer/index.ts';
import type { SpeechSpan } from '../../../voice/speech-span.ts';
import type { Transcriber } from '../../../voice/transcription/index.ts';
import type { Utterance } from '../../../voice/turn-taking/index.ts';
import type { ClosedChannel } from '../channel.ts';
import type { SessionPlan } from '../session-plan.ts';
import type { LineSpan, OnRecorded } from './build-recording.ts';
import { CallLaneRecorder, type MeasuredLanes } from './call-lanes.ts';
import { compareReplies } from './heard-replies.ts';
import { ReplyAudio } from './reply-audio.ts';
import { TranscriptComparison } from './transcript-comparison.ts';

/** The parts of a call that are kept, and their readers. */
export interface CallHistoryOptions {
  clock: Clock;
  /** Transcribes the agent's speech; undefined if it is not compared with the text. */
  transcriber?: Transcriber | undefined;
  /** Called when the call has ended. */
  onRecorded?: OnRecorded | undefined;
}

/** What is kept of a call: its audio, who spoke when, and notes for the session. */
export class CallHistory {
  readonly #options: CallHistoryOptions;
  readonly #notes: string[] = [];
  readonly #transcripts = new TranscriptComparison();
  readonly #recording = new CallRecording();
  readonly #replyAudio = new ReplyAudio(this.#recording);
  readonly #lines: LineSpan[] = [];
  readonly #lanes: CallLaneRecorder;
  #measured: MeasuredLanes | undefined;

  constructor(options: CallHistoryOptions) {
    this.#options = options;
    this.#lanes = new CallLaneRecorder(options.clock);
  }

  /** Starts when media can flow. */
  start(): void {
    this.#lanes.start();
  }

  /** Adds a packet of the agent with its levels, in order of arrival. */
  addReceived(packet: AudioPacket, levels: readonly LevelWindow[]): void {
    const { onRecorded, transcriber } = this.#options;
    this.#lanes.addReceived(packet, levels);
    if (onRecorded || transcriber) this.#recording.addReceived(packet);
  }

  /** Adds a packet of the user, and how late it left. */
  addSent(payload: Buffer, lateMs: number): void {
    const atMs = this.#options.clock.monotonicMs();
    this.#lanes.noteSent(atMs, lateMs);
    if (this.#options.onRecorded) this.#recording.addSent(payload, atMs);
  }

  /** Adds a line or an interruption of the user. */
  addLine(utterance: Utterance): void {
    const { turn, startMs, endMs } = utterance;
    this.#lines.push({ turn, startMs, endMs });
    this.#lanes.addUtterance(utterance);
  }

  /** Adds a backchannel: the user said it during the agent's reply, so it is not a separate turn. */
  addBackchannel(turn: number, speech: SpeechSpan): void {
    this.#lanes.addUtterance({ turn, ...speech, kind: 'backchannel', pauses: [] });
  }

  /** Notes from when on the agent's audio is its reply in a turn. */
  beginReply(turn: number, atMs: number): void {
    this.#replyAudio.begin(turn, atMs);
  }

  /** Runs what the user does before it can speak; silence meanwhile is not dead air. */
  prepare<Result>(sinceMs: number | undefined, work: () => Promise<Result>): Promise<Result> {
    return this.#lanes.prepare(sinceMs, work);
  }

  /** Notes that the user stopped waiting for a greeting. */
  missGreeting(waited: SpeechSpan): void {
    this.#lanes.missGreeting(waited);
  }

  /** Compares a spoken line with the transcript of the agent. */
  compareTranscript(spoken: string, transcript: string): void {
    this.#transcripts.compare(spoken, transcript);
  }

  /** Adds a note for the session, without text of the conversation. */
  note(text: string): void {
    this.#notes.push(text);
  }

  /** Measures how the two sides took turns; call it before hanging up. */
  measure(): void {
    this.#measured = this.#lanes.finish();
    if (!this.#measured) return;
    this.#replyAudio.finish(this.#measured.agentSpeech, this.#measured.turnTaking);
  }

  /** Passes the recording on, and returns what the session reads, when the call has ended. */
  close(plan: SessionPlan): Omit<ClosedChannel, 'reportsTools'> {
    const { transcriber, clock, onRecorded } = this.#options;
    const audio = this.#replyAudio;
    onRecorded?.(plan, { audio: this.#recording.audio(), lines: this.#lines });
    return {
      notes: [...this.#notes, ...this.#transcripts.notes],
      turnTaking: this.#measured?.turnTaking,
      compareReplies:
        transcriber &&
        ((turns, signal) => compareReplies(turns, { audio, transcriber, clock }, signal)),
    };
  }
}
