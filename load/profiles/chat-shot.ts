import type { ChatMessage } from '../../src/contract/index.ts';
import type { Markers, Shot } from './shot.ts';

/** Three times the target: a miss is seen with its size. */
const CHAT_DEADLINE_MS = 15_000;

/** What the simulated users open with. Each is made unique, so that no cache answers in their place. */
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

/** How chat requests of a run are made. */
export interface ChatWords {
  markers: Markers;
  headers: Record<string, string>;
  /** What users say instead: the lines of each, conversation by conversation in turns. */
  lines?: readonly (readonly string[])[] | undefined;
}

/** The nth first message of a conversation. */
export function opening(nth: number, { markers, lines }: ChatWords): ChatMessage {
  const own = lines?.[nth % lines.length]?.[0];
  const text = own ?? OPENINGS[nth % OPENINGS.length] ?? OPENINGS[0];
  return { role: 'user', content: `${text} (${markers.reference(nth)})` };
}

/** What the user of the nth conversation says at a turn, the opening being the first. */
export function replyAt(turn: number, nth: number, { lines }: ChatWords): ChatMessage {
  const own = lines?.[nth % lines.length]?.[turn - 1];
  return { role: 'user', content: own ?? REPLIES[(turn - 2) % REPLIES.length] ?? REPLIES[0] };
}

/** The request of a turn in the nth conversation. */
export function chatShot(
  nth: number,
  messages: readonly ChatMessage[],
  words: ChatWords,
  next?: Shot['next'],
): Shot {
  const session = words.markers.session(nth);
  return {
    stream: 'chat',
    endpoint: 'chat',
    outgoing: {
      method: 'POST',
      path: '/v1/chat/completions',
      headers: { 'content-type': 'application/json', ...words.headers },
      body: JSON.stringify({ messages, session_id: session }),
    },
    deadlineMs: CHAT_DEADLINE_MS,
    markers: [session, words.markers.reference(nth)],
    session,
    ...(next && { next }),
  };
}
