import { resolvePointer, type ChatMessage } from '../../src/contract/index.ts';
import type { Random } from '../../src/platform/random.ts';
import { chatRequest, messageAt, openingMessage, type ChatContent } from './chat-request.ts';
import type { FollowUp, PlannedRequest } from './planned-request.ts';

/** Number of turns in a conversation. */
const TURNS = 5;
/** Average time that a simulated user waits before the next turn. */
export const THINK_MS = 1_000;

/** Maximum length of one message in the history, which grows with every turn. */
const CONTENT_LENGTH_MAX = 2_000;

/**
 * Returns the first request of a simulated user who has one conversation after another. Each turn waits
 * for the previous response and sends the whole history. `nextIndex` numbers all conversations.
 */
export function conversationRequest(
  content: ChatContent,
  random: Random,
  nextIndex: () => number,
): PlannedRequest {
  const think = (): number => THINK_MS * (0.5 + random.fraction());
  const begin = (): PlannedRequest => {
    const index = nextIndex();
    return turn(index, [openingMessage(index, content)]);
  };
  const turn = (index: number, messages: readonly ChatMessage[]): PlannedRequest =>
    chatRequest(index, messages, content, (json): FollowUp => {
      const text = contentOf(json);
      const turns = (messages.length + 1) / 2;
      if (text === undefined || turns >= TURNS) return { request: begin(), afterMs: think() };
      const reply: ChatMessage = { role: 'assistant', content: text };
      return {
        request: turn(index, [...messages, reply, messageAt(turns + 1, index, content)]),
        afterMs: think(),
      };
    });
  return begin();
}

function contentOf(json: unknown): string | undefined {
  const content = resolvePointer(json, '/choices/0/message/content');
  return typeof content === 'string' ? content.slice(0, CONTENT_LENGTH_MAX) : undefined;
}
