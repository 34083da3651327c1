import type { Params } from './params.ts';
import { findFirstMatch } from '../domain/pattern-match.ts';
import { counted, cut, excerpt, quote } from './quoting.ts';
import { unscored, verdict, type Score, type Scoring } from './score.ts';
import type { ScoredSession } from './scored-session.ts';

const places = ['agent', 'user', 'any'] as const;
type Place = (typeof places)[number];

interface Message {
  turn: number;
  speaker: 'agent' | 'user';
  text: string;
}

/** `contains`: at least one message holds the text, in any case unless the case is asked for. */
export function scoreContains({ params, session }: Scoring): Score {
  const text = params.text('text');
  const fold = params.flag('case_sensitive') ? composed : folded;
  const wanted = fold(text);
  const { place, messages } = messagesOf(session, params);
  const found = messages.find((message) => fold(message.text).includes(wanted));
  const looked = `Looked for ${quote(text)} in ${phrases[place]}`;
  if (!found) return verdict(false, `${looked}: ${absence(messages)}`);
  return verdict(true, `${looked}: ${presence(found, fold(found.text).indexOf(wanted))}`);
}

/** `regex`: at least one message matches. A pattern that takes too long is an error, not a fail. */
export async function scoreRegex({ params, session, signal }: Scoring): Promise<Score> {
  const pattern = params.text('pattern');
  const flags = params.optionalText('flags') ?? '';
  const { place, messages } = messagesOf(session, params);
  const texts = messages.map(({ text }) => text);
  const matched = await findFirstMatch({ pattern, flags, texts }, signal);
  const looked = `Looked for a match of /${quote(pattern).slice(1, -1)}/${flags} in ${phrases[place]}`;
  switch (matched.kind) {
    case 'found': {
      const message = messages[matched.index];
      if (!message) throw new Error(`no message ${matched.index} of ${messages.length}`);
      return verdict(true, `${looked}: ${presence(message, matched.at)}`);
    }
    case 'absent':
      return verdict(false, `${looked}: ${absence(messages)}`);
    case 'invalid':
      return unscored(`${looked}: the pattern cannot be used (${cut(matched.why, 200)}).`);
    case 'too_slow':
      return unscored(
        `${looked}: the pattern was stopped after ${matched.ms} ms. Rewrite it without nested ` +
          'repetitions such as (a+)+.',
      );
  }
}

const phrases: Record<Place, string> = {
  agent: "the agent's messages",
  user: "the user's messages",
  any: 'all messages',
};

function messagesOf(session: ScoredSession, params: Params): { place: Place; messages: Message[] } {
  const place = params.word('in', places);
  const messages = session.turns.flatMap(({ sequence, userInput, agentResponse }): Message[] => [
    { turn: sequence, speaker: 'user', text: userInput },
    { turn: sequence, speaker: 'agent', text: agentResponse },
  ]);
  return {
    place,
    messages: messages.filter(({ speaker }) => place === 'any' || place === speaker),
  };
}

function presence({ turn, speaker, text }: Message, at: number): string {
  return `turn ${turn} has it; the ${speaker} said ${excerpt(text, at)}.`;
}

function absence(messages: readonly Message[]): string {
  const last = messages.at(-1);
  if (!last) return 'there are none.';
  return `none of ${counted(messages.length, 'message')} has it; the last is ${quote(last.text)}.`;
}

/** The same letters in the same code points, however the sender composed its accents. */
function composed(text: string): string {
  return text.normalize('NFC');
}

/**
 * Case folded beyond ASCII: down, then up, because only then ß, ẞ and ss are one, and the three
 * sigmas of Greek, too.
 */
function folded(text: string): string {
  return composed(composed(text).toLowerCase().toUpperCase());
}
