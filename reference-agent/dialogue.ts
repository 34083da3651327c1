import type { ChatMessage, ScenarioMetadata } from '../src/contract/index.ts';
import {
  lookUpOrder,
  openingHours,
  orders,
  refundOrder,
  tellOpeningHours,
  type ToolUse,
} from './tools.ts';

/** A conversation as its latest request shows it: the agent stores nothing between requests. */
export interface Conversation {
  messages: readonly ChatMessage[];
  /** The latest user message; empty before the first one. */
  userText: string;
  /** Number of user messages, including the latest. */
  turn: number;
  /** Name in the profile of the simulated user. */
  customerName: string | undefined;
  metadata: ScenarioMetadata | undefined;
}

/** What the agent replies and which tools it used, before it becomes a chat response. */
export interface AgentReply {
  content: string;
  tools: ToolUse[];
  /** Fraction, 0 to 1. */
  confidence: number;
  tone: 'friendly' | 'empathetic';
  /** Whether the agent recognized what the customer wants. */
  understood: boolean;
  /** Whether the reply contains the status of an order. */
  tellsStatus: boolean;
  /** Whether the reply contains what the customer wanted to know, even if it is bad news. */
  informs: boolean;
}

type TopicReply = Pick<AgentReply, 'content' | 'tools' | 'tellsStatus' | 'informs'>;

/** Something that a customer asks for. */
interface Topic {
  confidence: number;
  reply(orderIds: string[]): TopicReply;
}

/** A topic that a message has if it matches the pattern. */
type RecognizedTopic = Topic & { pattern: RegExp };

// In order of precedence: a refund request also mentions an order but does not ask for its status.
const ORDER_TOPICS: RecognizedTopic[] = [
  { pattern: /\b(?:refund|money back|return)/i, confidence: 0.9, reply: refund },
  {
    pattern: /\b(?:orders?|parcel|package|deliver|shipped|arrive|track|where is|where's)/i,
    confidence: 0.95,
    reply: tellStatus,
  },
];
const HOURS_TOPIC: RecognizedTopic = {
  pattern: /\b(?:open|opening|hours|close|closed|closing)\b/i,
  confidence: 0.97,
  reply: tellHours,
};

const OFFER = 'I can look up an order, refund it, or tell you our opening hours.';

/** Replies to a message without a topic; the first match applies. */
const COURTESIES: { pattern: RegExp; text: string }[] = [
  {
    pattern: /[¡¿]|\b(?:hola|bonjour|guten|danke|merci|ciao)\b/i,
    text: `I speak English. ${OFFER}`,
  },
  {
    pattern: /\b(?:other words|rephrase|(?:did not|didn't|don't) understand)\b/i,
    text: 'Tell me the number of an order, and I say where it is or return your money.',
  },
  {
    pattern: /\btell me more\b/i,
    text: 'An order number is a letter and four digits, such as A-1001. I refund what was not canceled.',
  },
  { pattern: /\b(?:what can you|help me with|can you do)\b/i, text: OFFER },
  { pattern: /\b(?:thanks|thank you|great|perfect)\b/i, text: 'You are welcome.' },
  { pattern: /\b(?:bye|goodbye|see you)\b/i, text: 'Goodbye, and thank you for your visit.' },
];
const GREETING = /^\W*(?:hi|hello|hey|good (?:morning|afternoon|evening|day))\b/i;
const NAME_QUESTION = /\bwhat(?:'s| is)? my name\b/i;
const NAME = /\b[Mm]y name is (\p{Lu}\p{L}{0,40})/u;
const UPSET = /\b(?:angry|annoyed|terrible|unacceptable|ridiculous|frustrat|upset|complain)/i;
const UPSET_PERSONA = /angry|annoyed|frustrated|impatient|upset/i;

// Longer than any message that a person sends. More text would only slow down the patterns.
const CHARACTERS_READ_MAX = 10_000;
const MESSAGES_READ_MAX = 100;
const ORDERS_PER_MESSAGE_MAX = 5;

/** Returns the agent's reply, which depends on the conversation only. */
export function replyTo(conversation: Conversation): AgentReply {
  const userText = truncate(conversation.userText);
  const topics = topicsOf(userText);
  const named = orderIdsIn(userText);
  if (topics.length === 0 && named.length > 0) topics.push(findOpenTopic(conversation.messages));
  const isUpset = UPSET.test(userText) || UPSET_PERSONA.test(conversation.metadata?.persona ?? '');
  const tone = isUpset ? 'empathetic' : 'friendly';
  if (topics.length === 0) return { ...makeSmallTalk(conversation, userText), tone };

  const orderIds = named.length > 0 ? named : findRecentOrderIds(conversation.messages);
  const replies = topics.map((topic) => topic.reply(orderIds));
  const opening = isUpset ? ['I am sorry for the trouble.'] : [];
  if (GREETING.test(userText)) opening.unshift(`${greet(conversation)}.`);
  return {
    content: [...opening, ...replies.map(({ content }) => content)].join(' '),
    tools: replies.flatMap(({ tools }) => tools),
    confidence: Math.min(...topics.map(({ confidence }) => confidence)),
    tone,
    understood: true,
    tellsStatus: replies.some(({ tellsStatus }) => tellsStatus),
    informs: replies.every(({ informs }) => informs),
  };
}

/** Returns the topics of a message; at most one of them is about orders. */
function topicsOf(userText: string): Topic[] {
  const aboutOrders = ORDER_TOPICS.find(({ pattern }) => pattern.test(userText));
  const topics: Topic[] = aboutOrders ? [aboutOrders] : [];
  if (HOURS_TOPIC.pattern.test(userText)) topics.push(HOURS_TOPIC);
  return topics;
}

/** Returns the topic of a bare order id: the latest order topic of the user, or else the status. */
function findOpenTopic(messages: readonly ChatMessage[]): Topic {
  const recent = messages.slice(-MESSAGES_READ_MAX, -1).filter(({ role }) => role === 'user');
  for (const { content } of recent.reverse()) {
    const topic = ORDER_TOPICS.find(({ pattern }) => pattern.test(truncate(content)));
    if (topic) return topic;
  }
  return { confidence: 0.8, reply: tellStatus };
}

/** Returns the order ids that either side mentioned last. */
function findRecentOrderIds(messages: readonly ChatMessage[]): string[] {
  for (const { role, content } of messages.slice(-MESSAGES_READ_MAX).reverse()) {
    const named = role === 'system' ? [] : orderIdsIn(truncate(content));
    if (named.length > 0) return named;
  }
  return [];
}

function orderIdsIn(text: string): string[] {
  const named = text.match(/\b[A-Za-z]-\d{4}\b/g);
  if (named === null) return [];
  return [...new Set(named.map((id) => id.toUpperCase()))].slice(0, ORDERS_PER_MESSAGE_MAX);
}

function truncate(text: string): string {
  return text.length > CHARACTERS_READ_MAX ? text.slice(0, CHARACTERS_READ_MAX) : text;
}

function makeSmallTalk(conversation: Conversation, userText: string): Omit<AgentReply, 'tone'> {
  const content =
    talkAboutName(conversation, userText) ??
    COURTESIES.find(({ pattern }) => pattern.test(userText))?.text ??
    welcome(conversation, userText);
  const understood = content !== undefined;
  return {
    content: content ?? `I am not sure that I understand. ${OFFER}`,
    tools: [],
    confidence: understood ? 0.9 : 0.3,
    understood,
    tellsStatus: false,
    informs: understood,
  };
}

/** Replies to a greeting, and to a customer who says nothing. */
function welcome(conversation: Conversation, userText: string): string | undefined {
  const isWelcome = userText.trim() === '' || GREETING.test(userText);
  return isWelcome ? `${greet(conversation)}, welcome to the mug shop. ${OFFER}` : undefined;
}

/** Replies to a message that says a name or asks for it. The name that was said last applies. */
function talkAboutName(
  { messages, customerName }: Conversation,
  userText: string,
): string | undefined {
  if (!NAME_QUESTION.test(userText)) {
    const name = NAME.exec(userText)?.[1];
    return name && `Thank you, ${name}. How can I help you?`;
  }
  const introduction = messages
    .slice(-MESSAGES_READ_MAX)
    .findLast(({ role, content }) => role === 'user' && NAME.test(truncate(content)));
  const name = NAME.exec(truncate(introduction?.content ?? ''))?.[1] ?? customerName;
  return name === undefined ? 'You have not told me your name yet.' : `Your name is ${name}.`;
}

function greet({ customerName, metadata }: Conversation): string {
  const time = metadata?.time_of_day ?? '';
  const word = /^(?:morning|afternoon|evening)$/.test(time) ? `Good ${time}` : 'Hello';
  return customerName ? `${word} ${customerName}` : word;
}

function tellStatus(orderIds: string[]): TopicReply {
  if (orderIds.length === 0) return askForOrder('Which order is it about?');
  return {
    content: orderIds.map(describeOrder).join(' '),
    tools: orderIds.map(lookUpOrder),
    tellsStatus: orderIds.some((orderId) => orders.has(orderId)),
    informs: true,
  };
}

function refund(orderIds: string[]): TopicReply {
  if (orderIds.length === 0) return askForOrder('Which order would you like to return?');
  const parts: string[] = [];
  const tools: ToolUse[] = [];
  for (const orderId of orderIds) {
    tools.push(lookUpOrder(orderId));
    const order = orders.get(orderId);
    const use = order && refundOrder(orderId, order);
    if (use) tools.push(use);
    parts.push(
      order && use?.succeeded
        ? `I refunded ${order.price.toFixed(2)} euros for order ${orderId}.`
        : describeOrder(orderId),
    );
  }
  const tellsStatus = orderIds.some((orderId) => orders.get(orderId)?.status === 'canceled');
  return { content: parts.join(' '), tools, tellsStatus, informs: true };
}

function tellHours(): TopicReply {
  const { weekdays, saturday } = openingHours;
  return {
    content:
      `We are open from ${weekdays.opens} to ${weekdays.closes} on weekdays and from ` +
      `${saturday.opens} to ${saturday.closes} on Saturdays.`,
    tools: [tellOpeningHours()],
    tellsStatus: false,
    informs: true,
  };
}

function askForOrder(question: string): TopicReply {
  const content = `${question} Its number is a letter and four digits.`;
  return { content, tools: [], tellsStatus: false, informs: false };
}

function describeOrder(orderId: string): string {
  const order = orders.get(orderId);
  return order
    ? `Order ${orderId} is ${order.status}. ${order.note}`
    : `I can't find an order ${orderId}.`;
}
