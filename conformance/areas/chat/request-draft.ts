import type { ChatMessage, ChatRequest } from '../../../src/contract/index.ts';
import { extendBody } from '../large-bodies.ts';
import { repeatText } from '../texts.ts';
import { GREETING } from './requests.ts';

type Role = ChatMessage['role'];

/** The places of texts in a chat request. */
export type TextPosition = 'last' | 'earlier' | 'assistant' | 'system';

/** The text of one message. Without parts, it is one that doesn't matter. */
export interface TextDraft {
  /** Texts that are joined with spaces. */
  parts: string[];
  /** The number of characters. */
  length: number | undefined;
  /** Space around the text. */
  edge: string;
}

/** A chat request that properties change before it is sent. */
export interface ChatDraft {
  /** The roles before the conversation. */
  first: Role[];
  /** Parts of the conversation. A valid conversation is put together from them. */
  parts: Role[][];
  /** The roles at the end; without them, a user message is last. */
  last: Role[];
  /** The only role; undefined for a conversation. */
  only: Role | undefined;
  /** Extends the conversation to this number of messages. */
  length: number;
  /** The texts of the last user message, and of the first message of each other kind. */
  texts: Partial<Record<TextPosition, TextDraft>>;
  /** The metadata of the request. */
  metadata: Record<string, unknown>;
  /** Extends the body to this number of bytes. */
  bytes: number;
  /** Returns the session id of the request, from an id that no other request has. */
  nameSession: (unique: string) => string;
}

/** Creates the draft of the plain request. */
export function createChatDraft(metadata: Record<string, unknown>): ChatDraft {
  return {
    first: [],
    parts: [],
    last: [],
    only: undefined,
    length: 1,
    texts: {},
    metadata: { ...metadata },
    bytes: 0,
    nameSession: (unique) => unique,
  };
}

/** Writes a request as JSON in ASCII. */
export const writeEscaped = (request: ChatRequest): string =>
  JSON.stringify(request).replaceAll(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** Returns the request of a draft. */
export function toChatRequest(
  draft: ChatDraft,
  names: { userId: string | undefined; sessionId: string },
): ChatRequest {
  const { userId, sessionId } = names;
  const request = {
    messages: writeMessages(draft.only ? [draft.only] : joinRoles(draft), draft),
    ...(userId === undefined ? {} : { user_id: userId }),
    session_id: draft.nameSession(sessionId),
    metadata: draft.metadata,
  };
  return extendTo(draft.bytes, request);
}

/** Extends the body of a request with metadata, which few agents send to a model. */
export const extendTo = (bytes: number, request: ChatRequest): ChatRequest =>
  extendBody(bytes, (notes) => ({ ...request, metadata: { ...request.metadata, notes } })) ??
  request;

/**
 * Joins the parts of a conversation. Between parts, user and assistant take turns, so that a request
 * has no peculiarity other than its properties.
 */
function joinRoles({ first, parts, last, length, texts }: ChatDraft): Role[] {
  const isMissingSystem = texts.system && ![...first, ...parts.flat(), ...last].includes('system');
  const roles: Role[] = [...(isMissingSystem ? (['system'] as const) : []), ...first];
  const append = (part: readonly Role[]): void => {
    if (part[0] === 'user' && roles.at(-1) === 'user') roles.push('assistant');
    if (part[0] === 'assistant' && roles.at(-1) === 'assistant') roles.push('user');
    roles.push(...part);
  };
  for (const part of parts) append(part);
  const all = (): Role[] => [...roles, ...last];
  const hasRoom = (): boolean =>
    all().length < length ||
    (texts.assistant !== undefined && !all().includes('assistant')) ||
    (texts.earlier !== undefined && !roles.includes('user'));
  while (hasRoom()) append(roles.at(-1) === 'user' ? ['assistant'] : ['user']);
  // The first user message is an earlier one.
  const isOnlyEarlier = texts.earlier && last.length === 0 && countUsers(roles) === 1;
  if (last.length > 0) append(last);
  else if (isOnlyEarlier || roles.at(-1) !== 'user') append(['user']);
  return roles;
}

const countUsers = (roles: readonly Role[]): number =>
  roles.filter((role) => role === 'user').length;

const usual: Record<Role, string> = {
  system: 'The customer writes in the evening.',
  user: GREETING,
  assistant: 'Hello! I can help you with your orders.',
};

/** Gives the messages that a draft names their texts, and all others one that doesn't matter. */
function writeMessages(roles: readonly Role[], { texts }: ChatDraft): ChatMessage[] {
  const places: Record<TextPosition, number> = {
    last: roles.at(-1) === 'user' ? roles.length - 1 : -1,
    earlier: roles.indexOf('user'),
    assistant: roles.indexOf('assistant'),
    system: roles.indexOf('system'),
  };
  const positions = (Object.keys(places) as TextPosition[]).filter((name) => texts[name]);
  return roles.map((role, index) => {
    const position = positions.find((name) => places[name] === index);
    const text = position && texts[position];
    return { role, content: text ? writeText(text, usual[role]) : usual[role] };
  });
}

function writeText({ parts, length, edge }: TextDraft, instead: string): string {
  const text = parts.length === 0 ? instead : parts.join(' ');
  return edge + (length === undefined ? text : repeatText(text, length)) + edge;
}
