import type { HeardReplies, TurnTaking } from '../../../contract/index.ts';
import { limitSignal } from '../../../platform/abort.ts';
import type { Clock } from '../../../platform/clock.ts';
import { forEachConcurrently } from '../../../platform/concurrency.ts';
import { formatCount } from '../../../report-kit/format.ts';
import type { CallRecording } from '../../../voice/call/index.ts';
import type { SpeechSpan } from '../../../voice/speech-span.ts';
import { compareHeard, type Transcriber } from '../../../voice/transcription/index.ts';
import { wordErrorRate } from '../../domain/heard-facts.ts';
import type { SimulatedTurn } from '../../turns/turn-types.ts';

/** Time limit of all requests for one call. */
const CALL_MS_MAX = 120_000;
const REQUESTS_OF_CALL_MAX = 4;
const MISSED_MAX = 200;
/** Sound before and after the audible part of a reply. */
const EDGE_MS = 200;

/** What was heard of the replies of a call. */
export interface HeardResult {
  heard: HeardReplies | undefined;
  /** Without text of the conversation. */
  notes: string[];
}

/** The audio of the agent in a call, by the turns of its transcript. */
export class ReplyAudio {
  readonly #recording: Pick<CallRecording, 'receivedBetween'>;
  /** By turn. */
  readonly #starts = new Map<number, number>();
  #spans = new Map<number, SpeechSpan>();
  /** The turns whose audio can't be told apart. */
  #mixed = new Set<number>();
  /** The turns whose reply the user interrupted without a text of what was said. */
  #interrupted = new Set<number>();

  constructor(recording: Pick<CallRecording, 'receivedBetween'>) {
    this.#recording = recording;
  }

  /** Notes from when on the agent's audio belongs to a turn, on the monotonic clock. */
  begin(turn: number, atMs: number): void {
    this.#starts.set(turn, atMs);
  }

  /** Assigns what the agent said to the turns, when the call has ended. */
  finish(
    speech: readonly SpeechSpan[],
    { interruptions }: Pick<TurnTaking, 'interruptions'>,
  ): void {
    for (const { turn, yield_ms: yieldMs, corrected = false } of interruptions) {
      if (!corrected) this.#interrupted.add(turn - 1);
      // An agent that goes on speaks two replies at a time.
      if (yieldMs === null) this.#mixed.add(turn - 1).add(turn);
      else this.#starts.set(turn, (this.#starts.get(turn) ?? 0) + yieldMs + 1);
    }
    const starts = [...this.#starts].toSorted(([, a], [, b]) => a - b);
    for (const { startMs, endMs } of speech) {
      const [turn] = starts.findLast(([, fromMs]) => fromMs <= startMs) ?? [];
      if (turn === undefined) continue;
      const first = this.#spans.get(turn) ?? { startMs, endMs };
      this.#spans.set(turn, { startMs: first.startMs, endMs: Math.max(first.endMs, endMs) });
    }
  }

  /** Whether the audio and the text of a turn can be compared. */
  isComparable(turn: number): boolean {
    return !this.#mixed.has(turn) && !this.#interrupted.has(turn);
  }

  /** Returns the packets of a reply; none if it was not audible. */
  packetsOf(turn: number): Buffer[] {
    const span = this.#spans.get(turn);
    return span
      ? this.#recording.receivedBetween(span.startMs - EDGE_MS, span.endMs + EDGE_MS)
      : [];
  }
}

/** What a comparison needs. */
export interface ReplyComparison {
  audio: ReplyAudio;
  transcriber: Transcriber;
  clock: Clock;
}

/** Compares what was heard of each reply with its text. Stops at the first failure. Never rejects. */
export async function compareReplies(
  turns: readonly SimulatedTurn[],
  { audio, transcriber, clock }: ReplyComparison,
  signal: AbortSignal,
): Promise<HeardResult> {
  using limit = limitSignal(clock, CALL_MS_MAX, signal);
  const replies = turns.filter(({ agentResponse }) => agentResponse !== '');
  const comparable = replies.filter(({ sequence }) => audio.isComparable(sequence));
  const compared = new Map<number, ComparedReply>();
  let problem: string | undefined;
  await forEachConcurrently(comparable, REQUESTS_OF_CALL_MAX, async (turn) => {
    if (problem !== undefined || limit.signal.aborted) return;
    const packets = audio.packetsOf(turn.sequence);
    const heard =
      packets.length === 0
        ? ({ ok: true, text: '' } as const)
        : await transcriber.transcribe(packets, limit.signal);
    if (heard.ok) {
      compared.set(turn.sequence, compareReply(turn, heard.text));
    } else problem ??= heard.message;
  });
  if (signal.aborted) return { heard: undefined, notes: [] };
  if (limit.isOver()) problem = `the transcription took longer than ${CALL_MS_MAX} ms`;
  const missing = comparable.length - compared.size;
  const reason = (problem ?? '').replace(/[.]?$/, '.');
  return {
    heard: summarize(replies, compared, audio),
    notes:
      missing === 0
        ? []
        : [`What was heard was not compared in ${formatCount(missing, 'turn')}: ${reason}`],
  };
}

type HeardReply = HeardReplies['replies'][number];

type ComparedReply = HeardReply & { missed: HeardReplies['missed'] };

function compareReply(
  { sequence: turn, agentResponse }: SimulatedTurn,
  heard: string,
): ComparedReply {
  const { words, errors, missed } = compareHeard(agentResponse, heard);
  return { turn, heard, words, errors, missed: missed.map((entity) => ({ turn, ...entity })) };
}

function summarize(
  replies: readonly SimulatedTurn[],
  compared: ReadonlyMap<number, ComparedReply>,
  audio: ReplyAudio,
): HeardReplies {
  const inOrder = replies.flatMap(({ sequence }) => compared.get(sequence) ?? []);
  const sum = (key: 'words' | 'errors'): number =>
    inOrder.reduce((total, reply) => total + reply[key], 0);
  const [words, errors] = [sum('words'), sum('errors')];
  return {
    ...{ words, errors },
    word_error_rate: wordErrorRate(words, errors),
    missed: inOrder.flatMap(({ missed }) => missed).slice(0, MISSED_MAX),
    replies: inOrder.map(({ missed: _missed, ...reply }) => reply),
    not_compared: replies
      .filter(({ sequence }) => !compared.has(sequence))
      .map(({ sequence: turn }) => ({
        turn,
        reason: audio.isComparable(turn) ? 'not_transcribed' : 'interrupted',
      })),
  };
}
