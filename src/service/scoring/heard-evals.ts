import { formatCount, formatShare } from '../../report-kit/format.ts';
import { NOTHING_TRANSCRIBED } from '../model/missing-models.ts';
import { formatSome, quote } from './quoting.ts';
import { createErrorScore, createScore, type Score, type ScorerInput } from './score.ts';

/**
 * `heard_word_error_rate_max`: the agent's speech has at most `max` errors per word of its text, and at
 * most `missed_max` dates, amounts, codes, numbers, and names were not heard.
 */
export function scoreHeardWordErrorRateMax({ params, session }: ScorerInput): Score {
  const max = params.readNumber('max');
  const missedMax = params.readOptionalNumber('missed_max') ?? Infinity;
  const expectation = `Expected a word error rate of at most ${formatShare(max, 1)}`;
  const { heard } = session;
  if (!heard) {
    return createErrorScore(
      `${expectation}. ${NOTHING_TRANSCRIBED} The scenario needs \`channel: voice\`.`,
    );
  }
  const { word_error_rate: rate, words, errors, missed, not_compared: others } = heard;
  const failed = others.filter(({ reason }) => reason === 'not_transcribed');
  if (failed.length > 0) {
    const turns = formatSome(failed.map(({ turn }) => String(turn)));
    return createErrorScore(`${expectation}: no transcription of turn ${turns}; see the notes.`);
  }
  if (rate === null) return createErrorScore(`${expectation}: there was no reply to compare.`);
  const named = formatSome(missed.map(({ kind, text }) => `${kind} ${quote(text)}`));
  const result = `${errors} of ${formatCount(words, 'word')} (${formatShare(rate, 1)})`;
  return createScore(
    rate <= max && missed.length <= missedMax,
    `${expectation}: ${result}${missed.length === 0 ? '' : `; said but not heard: ${named}`}.`,
    missed.map(({ turn }) => ({ turn, part: 'agent' })),
  );
}
