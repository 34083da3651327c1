/** The evals that search what was said: `contains` and `regex`. */
import type { OutcomeEvidence } from '../../contract/index.ts';
import { foldCase } from '../../platform/fold-case.ts';
import { findFirstMatch } from '../../platform/pattern-match.ts';
import { formatCount } from '../../report-kit/format.ts';
import { findTurns, type ScoredSession } from '../sessions/scored-session.ts';
import type { ScoredTurn } from '../turns/turn-types.ts';
import type { Params } from './params.ts';
import { formatSome, quote, quoteExcerpt, quotePattern, shorten } from './quoting.ts';
import { createErrorScore, createScore, type Score, type ScorerInput } from './score.ts';

const SPEAKERS = ['agent', 'user', 'any'] as const;
type SpeakerFilter = (typeof SPEAKERS)[number];

const speakerNames: Record<SpeakerFilter, string> = {
  agent: "the agent's messages",
  user: "the user's messages",
  any: 'all messages',
};

interface Message {
  turn: number;
  speaker: 'agent' | 'user';
  text: string;
}

/**
 * `contains`: a message contains the text, or none does if `absent` is true; case-insensitive unless
 * `case_sensitive`.
 */
export function scoreContains({ params, session }: ScorerInput): Score {
  const text = params.readText('text');
  const normalize = params.readFlag('case_sensitive') ? normalizeAccents : foldCase;
  const expected = normalize(text);
  const filter = filterMessages(session, params);
  const message = filter.messages.find((candidate) => normalize(candidate.text).includes(expected));
  if (!message) return scoreSearch(quote(text), filter, undefined);
  const start = normalize(message.text).indexOf(expected);
  // Normalizing can change the length; then the place in the original text is unknown.
  const isSameLength = normalize(message.text).length === message.text.length;
  const place = isSameLength ? { start, end: start + expected.length } : {};
  return scoreSearch(quote(text), filter, { message, at: start, place });
}

/**
 * `regex`: a message matches the pattern, or none does if `absent` is true. A pattern that takes too
 * long is an error.
 */
export async function scoreRegex({ params, session, signal }: ScorerInput): Promise<Score> {
  const pattern = params.readText('pattern');
  const flags = params.readOptionalText('flags') ?? '';
  const filter = filterMessages(session, params);
  const texts = filter.messages.map(({ text }) => text);
  const result = await findFirstMatch({ pattern, flags, texts }, signal);
  const expected = `a match of /${quotePattern(pattern)}/${flags}`;
  const search = `Looked for ${expected} in ${filter.place}`;
  switch (result.kind) {
    case 'found': {
      const message = filter.messages[result.index];
      if (!message) throw new Error(`There is no message ${result.index} of ${texts.length}.`);
      const { at, length } = result;
      return scoreSearch(expected, filter, { message, at, place: { start: at, end: at + length } });
    }
    case 'absent':
      return scoreSearch(expected, filter, undefined);
    case 'invalid':
      return createErrorScore(
        `${search}: the pattern is invalid (${shorten(result.reason, 200)}).`,
      );
    case 'too_slow':
      return createErrorScore(
        `${search}: the pattern was stopped after ${result.ms} ms. Rewrite it without nested ` +
          'repetitions such as (a+)+.',
      );
  }
}

/** The messages that a search covers. */
interface SearchedMessages {
  /** Where they are, in words. */
  place: string;
  messages: Message[];
  /** Whether only one turn or line of the scenario is searched. */
  isNarrow: boolean;
  /** Whether no message may have what is searched for. */
  isAbsent: boolean;
}

function filterMessages(session: ScoredSession, params: Params): SearchedMessages {
  const filter = params.readWord('in', SPEAKERS);
  const number = params.readOptionalNumber('turn');
  const turns = number === undefined ? session.turns : findTurns(session.turns, number);
  const place = number === undefined ? '' : ` of ${nameTurns(turns, number, session)}`;
  const messages = turns.flatMap(({ sequence, userInput, agentResponse }): Message[] => [
    { turn: sequence, speaker: 'user', text: userInput },
    { turn: sequence, speaker: 'agent', text: agentResponse },
  ]);
  return {
    place: `${speakerNames[filter]}${place}`,
    messages: messages.filter(({ speaker }) => filter === 'any' || filter === speaker),
    isNarrow: number !== undefined,
    isAbsent: params.readFlag('absent'),
  };
}

/** Names what `turn: N` means: the turn, or the line of the scenario with its turns. */
function nameTurns(
  turns: readonly ScoredTurn[],
  number: number,
  { turns: all }: ScoredSession,
): string {
  const [first, ...others] = turns.map(({ sequence }) => String(sequence));
  if (first === undefined) {
    const hasLines = all.some(({ scenarioLine }) => scenarioLine !== undefined);
    return `${hasLines ? 'line' : 'turn'} ${number}`;
  }
  if (others.length > 0) return `line ${number} (turns ${formatSome([first, ...others])})`;
  return first === String(number) ? `turn ${number}` : `line ${number} (turn ${first})`;
}

/** A message that has what is searched for, and where. */
interface SearchMatch {
  message: Message;
  at: number;
  place: { start?: number; end?: number };
}

function scoreSearch(
  expected: string,
  { place, messages, isNarrow, isAbsent }: SearchedMessages,
  match: SearchMatch | undefined,
): Score {
  const search = isAbsent
    ? `Expected nothing like ${expected} in ${place}`
    : `Looked for ${expected} in ${place}`;
  if (match) {
    const { message, at } = match;
    return createScore(!isAbsent, `${search}: ${describeMatch(message, at)}`, [
      { turn: message.turn, part: message.speaker, ...match.place },
    ]);
  }
  const [first] = messages;
  // Without messages, nothing shows that the agent would not say it.
  if (isAbsent && first) return createScore(true, `${search}: none has it.`);
  const last = isNarrow ? messages.at(-1) : undefined;
  const evidence: OutcomeEvidence[] = last ? [{ turn: last.turn, part: last.speaker }] : [];
  return createScore(false, `${search}: ${describeAbsence(messages)}`, evidence);
}

function describeMatch({ turn, speaker, text }: Message, at: number): string {
  return `turn ${turn} has it; the ${speaker} said ${quoteExcerpt(text, at)}.`;
}

function describeAbsence(messages: readonly Message[]): string {
  const last = messages.at(-1);
  if (!last) return 'there are no messages.';
  if (messages.every(({ text }) => text === '')) {
    return (
      `none of ${formatCount(messages.length, 'message')} has text. If the traces contain no ` +
      "message content, turn on its capture in the agent's instrumentation."
    );
  }
  return `none of ${formatCount(messages.length, 'message')} has it; the last is ${quote(last.text)}.`;
}

/** Makes text comparable regardless of how accents are encoded. */
const normalizeAccents = (text: string): string => text.normalize('NFC');
