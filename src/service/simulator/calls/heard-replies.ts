import type { HeardReplies } from '../../../contract/index.ts';
import { limitSignal } from '../../../platform/abort.ts';
import type { Clock } from '../../../platform/clock.ts';
import { forEachConcurrently } from '../../../platform/concurrency.ts';
import { formatCount } from '../../../report-kit/format.ts';
import { compareHeard, type Transcriber } from '../../../voice/transcription/index.ts';
import { wordErrorRate } from '../../runs/heard-facts.ts';
import type { SimulatedTurn } from '../../turns/turn-types.ts';
import type { ReplyAudio } from './reply-audio.ts';

/** Time limit of all requests for one call. */
const CALL_MS_MAX = 120_000;
const REQUESTS_OF_CALL_MAX = 4;
const MISSED_MAX = 200;

/** The transcribed replies of a call. */
export interface HeardResult {
  heard: HeardReplies | undefined;
  /** Without text of the conversation. */
  notes: string[];
}

/** What a comparison needs. */
export interface ReplyComparison {
  audio: ReplyAudio;
  transcriber: Transcriber;
  clock: Clock;
}

/** Compares the speech of each reply with its text. Stops at the first failure. Never rejects. */
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
        : [`Speech was not compared with text in ${formatCount(missing, 'turn')}: ${reason}`],
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
    words,
    errors,
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
