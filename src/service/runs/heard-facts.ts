import type { HeardReplies, RunHeard, SimulatedSessionReport } from '../../contract/index.ts';
import { roundTo } from '../../platform/round.ts';
import type { TextFact } from '../../report-kit/fact-list.ts';
import { cutText, formatCount, formatList, formatShare } from '../../report-kit/format.ts';
import { NOTHING_TRANSCRIBED } from '../model/missing-models.ts';

const NAMED_MAX = 5;
const REPLIES_MAX = 5;
const REPLY_CHARS_MAX = 300;

/** Returns errors per word; null without words. */
export const wordErrorRate = (words: number, errors: number): number | null =>
  words === 0 ? null : roundTo(errors / words, 4);

/** Returns the transcribed speech of all calls of a run; undefined without a call. */
export function summarizeHeard(
  sessions: readonly SimulatedSessionReport[],
  isTranscribed: boolean,
): RunHeard | undefined {
  if (!sessions.some(({ turn_taking: measured }) => measured)) return undefined;
  const calls = heardCalls(sessions).filter(({ replies }) => replies.length > 0);
  const sum = (count: (call: HeardReplies) => number): number =>
    calls.reduce((total, call) => total + count(call), 0);
  const [words, errors] = [sum((call) => call.words), sum((call) => call.errors)];
  return {
    calls: calls.length,
    words,
    errors,
    word_error_rate: wordErrorRate(words, errors),
    missed: sum(({ missed }) => missed.length),
    ...(!isTranscribed && { skipped: NOTHING_TRANSCRIBED }),
  };
}

const heardCalls = (sessions: readonly SimulatedSessionReport[]): HeardReplies[] =>
  sessions.flatMap(({ heard }) => heard ?? []);

/** Returns facts for people about the transcribed speech of a run; none without a call. */
export function listRunHeard(
  heard: RunHeard | undefined,
  sessions: readonly SimulatedSessionReport[],
): TextFact[] {
  if (!heard) return [];
  if (heard.skipped !== undefined) return [['skipped', heard.skipped]];
  const missed = heardCalls(sessions).flatMap((call) => call.missed);
  return [
    ['calls', formatCount(heard.calls, 'call')],
    ...listMissed(missed, ({ kind, text }) => `${kind} ${text}`),
    ...listRate(heard),
  ];
}

/** Returns facts for people about the transcribed speech of a call. */
export function listHeard(heard: HeardReplies): TextFact[] {
  const { missed, replies, not_compared: others } = heard;
  const interrupted = others.filter(({ reason }) => reason === 'interrupted');
  return [
    ...listMissed(missed, ({ kind, text, turn }) => `${kind} ${text} in turn ${turn}`),
    ...listRate(heard),
    ...replies
      .filter(({ errors }) => errors > 0)
      .slice(0, REPLIES_MAX)
      .map(({ turn, heard: text }): TextFact => {
        const figure = text === '' ? 'nothing' : cutText(text, REPLY_CHARS_MAX);
        return [`heard in turn ${turn}`, figure];
      }),
    ...(interrupted.length === 0
      ? []
      : [
          [
            'not compared',
            `${formatCount(interrupted.length, 'interrupted turn')}: no text of what was said`,
          ] as const,
        ]),
  ];
}

type Missed = HeardReplies['missed'][number];

const listMissed = (missed: readonly Missed[], describe: (each: Missed) => string): TextFact[] =>
  missed.length === 0 ? [] : [['said but not heard', formatList(missed.map(describe), NAMED_MAX)]];

const listRate = ({
  words,
  errors,
  word_error_rate: rate,
}: Pick<RunHeard, 'words' | 'errors' | 'word_error_rate'>): TextFact[] =>
  rate === null
    ? []
    : [['word error rate', `${formatShare(rate, 1)} (${errors} of ${formatCount(words, 'word')})`]];
