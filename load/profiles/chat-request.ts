import { CHAT_RESPONSE_MS_TARGET, type ChatMessage } from '../../src/contract/index.ts';
import type { Markers } from './markers.ts';
import type { PlannedRequest } from './planned-request.ts';

/** Long enough that a miss of the target is measured. */
const CHAT_DEADLINE_MS = 3 * CHAT_RESPONSE_MS_TARGET;

/** The first messages of simulated users. A reference makes each unique, so that no response comes from a cache. */
const OPENINGS = [
  'Hello, where is my order A-1001?',
  'What are your opening hours on Saturday?',
  'I would like a refund for order A-1001, please.',
  'Good morning! Can I still change my address?',
  'My parcel was damaged. What should I do?',
  'Do you ship to other countries?',
  'How long does a delivery take?',
  'Thanks for your help last week. I have one more question.',
] as const;

const REPLIES = [
  'Could you explain that, please?',
  'And what about order A-1002?',
  'When would that be?',
  'Is there anything else that I need to do?',
  'Thank you. Goodbye.',
] as const;

/** What the chat requests of a run contain. */
export interface ChatContent {
  markers: Markers;
  headers: Record<string, string>;
  /** The messages of each simulated user instead of the built-in ones; conversations take turns. */
  lines?: readonly (readonly string[])[] | undefined;
}

/** Returns the first message of a conversation. */
export function openingMessage(index: number, { markers, lines }: ChatContent): ChatMessage {
  const line = lines?.[index % lines.length]?.[0];
  const text = line ?? OPENINGS[index % OPENINGS.length] ?? OPENINGS[0];
  return { role: 'user', content: `${text} (${markers.reference(index)})` };
}

/** Returns the user message at a turn of a conversation; turn 1 is the opening. */
export function messageAt(turn: number, index: number, { lines }: ChatContent): ChatMessage {
  const line = lines?.[index % lines.length]?.[turn - 1];
  return { role: 'user', content: line ?? REPLIES[(turn - 2) % REPLIES.length] ?? REPLIES[0] };
}

/** Builds the request for a turn of a conversation. */
export function chatRequest(
  index: number,
  messages: readonly ChatMessage[],
  content: ChatContent,
  next?: PlannedRequest['next'],
): PlannedRequest {
  const session = content.markers.session(index);
  return {
    stream: 'chat',
    endpoint: 'chat',
    name: `chat ${index} ${messages.length}`,
    outgoing: {
      method: 'POST',
      path: '/v1/chat/completions',
      headers: { 'content-type': 'application/json', ...content.headers },
      body: JSON.stringify({ messages, session_id: session }),
    },
    deadlineMs: CHAT_DEADLINE_MS,
    markers: [session, content.markers.reference(index)],
    session,
    ...(next && { next }),
  };
}
