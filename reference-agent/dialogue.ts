import type { ChatMessage, ScenarioMetadata } from '../src/contract/index.ts';
import { lookUpOrder, openingHours, orders, refundOrder, tellOpeningHours } from './tools.ts';
import type { ToolUse } from './tools.ts';

/** All that the agent knows of a conversation: it keeps nothing between requests. */
export interface Conversation {
  messages: readonly ChatMessage[];
  /** What the user said last; empty when the user said nothing yet. */
  said: string;
  /** How many messages of the user there are, this one included. */
  turn: number;
  /** Name in the profile of the simulated user, if there is one. */
  customerName: string | undefined;
  metadata: ScenarioMetadata | undefined;
}

/** What the agent says and did, before it takes the shape of the wire. */
export interface AgentReply {
  content: string;
  tools: ToolUse[];
  /** Fraction, 0 to 1. */
  confidence: number;
  tone: 'friendly' | 'empathetic';
  /** Whether the agent recognised what the customer wants. */
  understood: boolean;
  /** Whether the reply tells the status of an order. */
  tellsStatus: boolean;
  /** Whether the reply tells the customer what they wanted to know, good news or bad. */
  informs: boolean;
}

type Answer = Pick<AgentReply, 'content' | 'tools' | 'tellsStatus' | 'informs'>;

/** A business that a customer comes with. */
interface Topic {
  pattern: RegExp;
  confidence: number;
  answer(orderIds: string[]): Answer;
}

// In order of precedence; one who wants a refund names the order, and has not asked for its status.
const orderTopics: Topic[] = [
  { pattern: /\b(?:refund|money back|return)/i, confidence: 0.9, answer: refund },
  {
    pattern: /\b(?:orders?|parcel|package|deliver|shipped|arrive|track|where is|where's)/i,
    confidence: 0.95,
    answer: tellStatus,
  },
];
const hoursTopic: Topic = {
  pattern: /\b(?:open|opening|hours|close|closed|closing)\b/i,
  confidence: 0.97,
  answer: tellHours,
};

/** What is said to a customer who came with no business, the first that fits. */
const courtesies: { pattern: RegExp; says: string }[] = [
  { pattern: /\b(?:thanks|thank you|great|perfect)\b/i, says: 'You are welcome.' },
  { pattern: /\b(?:bye|goodbye|see you)\b/i, says: 'Goodbye, and thank you for your visit.' },
];
const greeting = /^\W*(?:hi|hello|hey|good (?:morning|afternoon|evening|day))\b/i;
const offer = 'I can look up an order, refund it, or tell you our opening hours.';
const upset = /\b(?:angry|annoyed|terrible|unacceptable|ridiculous|frustrat|upset|complain)/i;
const upsetPersona = /angry|annoyed|frustrated|impatient|upset/i;

// Long enough for any sentence a person says; what follows could only slow the patterns down.
const charactersReadMax = 4_000;
const messagesReadMax = 100;
const ordersPerMessageMax = 5;

/**
 * The agent's mind: what it replies, from the conversation alone. The same conversation gives the
 * same reply, whatever else was asked before or meanwhile.
 */
export function replyTo(conversation: Conversation): AgentReply {
  const said = conversation.said.slice(0, charactersReadMax);
  const topics = topicsOf(said);
  const named = orderIdsIn(said);
  if (topics.length === 0 && named.length > 0) topics.push(openTopic(conversation.messages));
  const isUpset = upset.test(said) || upsetPersona.test(conversation.metadata?.persona ?? '');
  const tone = isUpset ? 'empathetic' : 'friendly';
  if (topics.length === 0) return { ...smallTalk(conversation, said), tone };

  const orderIds = named.length > 0 ? named : rememberedOrderIds(conversation.messages);
  const answers = topics.map((topic) => topic.answer(orderIds));
  const opening = isUpset ? ['I am sorry for the trouble.'] : [];
  if (greeting.test(said)) opening.unshift(`${greet(conversation)}.`);
  return {
    content: [...opening, ...answers.map(({ content }) => content)].join(' '),
    tools: answers.flatMap(({ tools }) => tools),
    confidence: Math.min(...topics.map(({ confidence }) => confidence)),
    tone,
    understood: true,
    tellsStatus: answers.some(({ tellsStatus }) => tellsStatus),
    informs: answers.every(({ informs }) => informs),
  };
}

/** The businesses that a message names, at most one about orders. */
function topicsOf(said: string): Topic[] {
  const aboutOrders = orderTopics.find(({ pattern }) => pattern.test(said));
  const topics = aboutOrders ? [aboutOrders] : [];
  if (hoursTopic.pattern.test(said)) topics.push(hoursTopic);
  return topics;
}

/** What a bare order id is about: the latest order business of the user, else its status. */
function openTopic(messages: readonly ChatMessage[]): Topic {
  const recent = messages.slice(-messagesReadMax, -1).filter(({ role }) => role === 'user');
  for (const { content } of recent.reverse()) {
    const topic = orderTopics.find(({ pattern }) => pattern.test(cut(content)));
    if (topic) return topic;
  }
  return { pattern: /$^/, confidence: 0.8, answer: tellStatus };
}

/** The order ids that were named last, by either side. */
function rememberedOrderIds(messages: readonly ChatMessage[]): string[] {
  for (const { role, content } of messages.slice(-messagesReadMax).reverse()) {
    const named = role === 'system' ? [] : orderIdsIn(cut(content));
    if (named.length > 0) return named;
  }
  return [];
}

function orderIdsIn(text: string): string[] {
  const named = text.match(/\b[A-Za-z]-\d{4}\b/g);
  if (named === null) return [];
  return [...new Set(named.map((id) => id.toUpperCase()))].slice(0, ordersPerMessageMax);
}

function cut(text: string): string {
  return text.length > charactersReadMax ? text.slice(0, charactersReadMax) : text;
}

function smallTalk(conversation: Conversation, said: string): Omit<AgentReply, 'tone'> {
  const reply = { tools: [], tellsStatus: false };
  const courtesy = courtesies.find(({ pattern }) => pattern.test(said));
  if (courtesy) {
    return { ...reply, content: courtesy.says, confidence: 0.9, understood: true, informs: true };
  }
  if (said === '' || greeting.test(said)) {
    const content = `${greet(conversation)}, welcome to the mug shop. ${offer}`;
    return { ...reply, content, confidence: 0.9, understood: true, informs: true };
  }
  const content = `I am not sure that I understand. ${offer}`;
  return { ...reply, content, confidence: 0.3, understood: false, informs: false };
}

function greet({ customerName, metadata }: Conversation): string {
  const time = metadata?.time_of_day ?? '';
  const word = /^(?:morning|afternoon|evening)$/.test(time) ? `Good ${time}` : 'Hello';
  return customerName ? `${word} ${customerName}` : word;
}

function tellStatus(orderIds: string[]): Answer {
  if (orderIds.length === 0) return askForOrder('Which order is it about?');
  const parts = orderIds.map((orderId) => {
    const order = orders.get(orderId);
    return order ? `Order ${orderId} is ${order.status}. ${order.note}` : notFound(orderId);
  });
  return {
    content: parts.join(' '),
    tools: orderIds.map(lookUpOrder),
    tellsStatus: orderIds.some((orderId) => orders.has(orderId)),
    informs: true,
  };
}

function refund(orderIds: string[]): Answer {
  if (orderIds.length === 0) return askForOrder('Which order would you like to return?');
  const parts: string[] = [];
  const tools: ToolUse[] = [];
  for (const orderId of orderIds) {
    tools.push(lookUpOrder(orderId));
    const order = orders.get(orderId);
    if (!order) {
      parts.push(notFound(orderId));
      continue;
    }
    const use = refundOrder(orderId, order);
    tools.push(use);
    parts.push(
      use.succeeded
        ? `I refunded ${order.price.toFixed(2)} euros for order ${orderId}.`
        : `Order ${orderId} is ${order.status}. ${order.note}`,
    );
  }
  const tellsStatus = orderIds.some((orderId) => orders.get(orderId)?.status === 'cancelled');
  return { content: parts.join(' '), tools, tellsStatus, informs: true };
}

function tellHours(): Answer {
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

function askForOrder(question: string): Answer {
  const content = `${question} Its number is a letter and four digits.`;
  return { content, tools: [], tellsStatus: false, informs: false };
}

function notFound(orderId: string): string {
  return `I can't find an order ${orderId}.`;
}
