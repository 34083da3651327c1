import { valueAt, type ChatMessage } from '../../src/contract/index.ts';
import type { Random } from '../../src/platform/random.ts';
import { chatShot, opening, replyAt, type ChatWords } from './chat-shot.ts';
import type { Next, Shot } from './shot.ts';

/** Turns of a conversation. */
export const TURNS = 5;
/** How long a simulated user thinks before the next turn, on average. */
export const THINK_MS = 1_000;

/** Of a history, what one message is cut to: it grows with every turn. */
const CONTENT_LENGTH_MAX = 2_000;

/**
 * A simulated user who holds one conversation after the other: each turn waits for the answer to
 * the one before, and goes along with the whole history. `nth` numbers the conversations of all.
 */
export function conversationShot(words: ChatWords, chance: Random, nth: () => number): Shot {
  const think = (): number => THINK_MS * (0.5 + chance.fraction());
  const begin = (): Shot => {
    const number = nth();
    return turn(number, [opening(number, words)]);
  };
  const turn = (number: number, messages: readonly ChatMessage[]): Shot =>
    chatShot(number, messages, words, (json): Next => {
      const said = contentOf(json);
      const turns = (messages.length + 1) / 2;
      if (said === undefined || turns >= TURNS) return { shot: begin(), afterMs: think() };
      const reply: ChatMessage = { role: 'assistant', content: said };
      return {
        shot: turn(number, [...messages, reply, replyAt(turns + 1, number, words)]),
        afterMs: think(),
      };
    });
  return begin();
}

function contentOf(json: unknown): string | undefined {
  const content = valueAt(json, '/choices/0/message/content');
  return typeof content === 'string' ? content.slice(0, CONTENT_LENGTH_MAX) : undefined;
}
