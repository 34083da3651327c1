import type { ScoredTurn } from '../turns/turn-types.ts';
import { quote } from './quoting.ts';
import { createScore, type Score, type Scoring } from './score.ts';

/** Shorter replies, such as "Yes." or "You are welcome.", may be repeated. In letters and digits. */
const REPLY_MIN = 14;
/** Shorter lines, such as "Hello!", may be returned. */
const LINE_MIN = 14;
/** What a reply may add to the user's line and still be an echo: "You said: …". */
const ADDED_MAX = 15;

/** `no_repetition`: no reply has the same words as an earlier reply, or only the user's line. */
export function scoreNoRepetition({ session }: Scoring): Score {
  const expectation = 'Expected replies that differ from each other and from what the user said';
  const turnByReply = new Map<string, number>();
  for (const turn of session.turns) {
    const problem = findRepetition(turn, turnByReply);
    if (problem !== undefined) {
      return createScore(false, `${expectation}: ${problem}: ${quote(turn.agentResponse)}.`, [
        { turn: turn.sequence, part: 'agent' },
      ]);
    }
    turnByReply.set(wordsOf(turn.agentResponse), turn.sequence);
  }
  return createScore(session.turns.length > 0, `${expectation}: ${describe(session.turns)}.`);
}

const describe = (turns: readonly ScoredTurn[]): string =>
  turns.length === 0 ? 'the session has no turns' : 'none repeats anything';

function findRepetition(
  { sequence, userInput, agentResponse }: ScoredTurn,
  turnByReply: ReadonlyMap<string, number>,
): string | undefined {
  const reply = wordsOf(agentResponse);
  const line = wordsOf(userInput);
  const isEcho =
    line.length >= LINE_MIN && reply.includes(line) && reply.length <= line.length + ADDED_MAX;
  if (isEcho) return `turn ${sequence} returns the user's line`;
  const earlier = reply.length >= REPLY_MIN ? turnByReply.get(reply) : undefined;
  return earlier === undefined ? undefined : `turn ${sequence} repeats turn ${earlier}`;
}

/** Returns the letters and digits of a text, so that case, spaces, and punctuation don't matter. */
const wordsOf = (text: string): string =>
  text
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
