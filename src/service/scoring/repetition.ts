import { foldCase } from '../../platform/fold-case.ts';
import type { ScoredTurn } from '../turns/turn-types.ts';
import { quote } from './quoting.ts';
import { createScore, type Score, type ScorerInput } from './score.ts';

/** Shorter replies, such as "Yes." or "You are welcome.", may be repeated. In letters and digits. */
const REPLY_MIN = 14;
/** Shorter lines, such as "Hello!", may be returned. */
const LINE_MIN = 14;
/** What a reply may add to the user's lines and still be an echo: "You said: …". */
const ADDED_MAX = 15;
/** The text that may precede them if nothing follows: "Hello! So far you told me: …". */
const PREFIX_MAX = 40;

/**
 * `no_repetition`: no reply has the same words as an earlier reply, only lines of the user, or the same words
 * as an earlier reply around other lines of the user. After an interruption, the agent may say again what
 * the user did not hear.
 */
export function scoreNoRepetition({ session }: ScorerInput): Score {
  const expectation = 'Expected replies that differ from each other and from what the user said';
  const earlier: Earlier = { lines: [], turnByReply: new Map(), turnByFrame: new Map() };
  for (const turn of session.turns) {
    const problem = findRepetition(turn, earlier);
    if (problem !== undefined) {
      return createScore(false, `${expectation}: ${problem}: ${quote(turn.agentResponse)}.`, [
        { turn: turn.sequence, part: 'agent' },
      ]);
    }
  }
  return createScore(session.turns.length > 0, `${expectation}: ${describe(session.turns)}.`);
}

const describe = (turns: readonly ScoredTurn[]): string =>
  turns.length === 0 ? 'the session has no turns' : 'none repeats anything';

/** What earlier turns said. */
interface Earlier {
  /** The lines of the user that are long enough to be recognized. */
  lines: string[];
  turnByReply: Map<string, number>;
  /** The turns whose reply has the line of the user, by what else the reply says. */
  turnByFrame: Map<string, number>;
}

/** Returns what a turn repeats, and notes what it says. */
function findRepetition(
  { sequence, userInput, agentResponse, interrupts = false }: ScoredTurn,
  { lines, turnByReply, turnByFrame }: Earlier,
): string | undefined {
  const reply = wordsOf(agentResponse);
  const line = wordsOf(userInput);
  if (line.length >= LINE_MIN) lines.push(line);
  const isRepeated = (turn: number | undefined): turn is number =>
    turn !== undefined && !(interrupts && turn === sequence - 1);
  const sameReply = reply.length >= REPLY_MIN ? turnByReply.get(reply) : undefined;
  turnByReply.set(reply, sequence);
  if (line.length >= LINE_MIN && reply.includes(line)) {
    const frame = removeAll(reply, lines);
    if (frame.length <= (reply.endsWith(line) ? PREFIX_MAX : ADDED_MAX))
      return `turn ${sequence} returns the user's line`;
    const sameFrame = turnByFrame.get(frame);
    if (isRepeated(sameFrame)) {
      return `turn ${sequence} repeats turn ${sameFrame} with another line of the user`;
    }
    turnByFrame.set(frame, sequence);
  }
  return isRepeated(sameReply) ? `turn ${sequence} repeats turn ${sameReply}` : undefined;
}

/** Returns a text without the parts, the longest removed first. */
const removeAll = (text: string, parts: readonly string[]): string =>
  parts
    .toSorted((left, right) => right.length - left.length)
    .reduce((rest, part) => rest.replaceAll(part, ''), text);

/** Returns the letters and digits of a text, so that case, spaces, and punctuation don't matter. */
const wordsOf = (text: string): string => foldCase(text).replaceAll(/[^\p{L}\p{N}]/gu, '');
