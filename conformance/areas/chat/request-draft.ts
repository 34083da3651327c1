import type { ChatMessage, ChatRequest } from '../../../src/contract/index.ts';
import { GREETING } from './requests.ts';

type Role = ChatMessage['role'];

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
  /** The texts of the first user messages. */
  contents: string[];
  /** The metadata of the request. */
  metadata: Record<string, unknown>;
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
    contents: [],
    metadata: { ...metadata },
    nameSession: (unique) => unique,
  };
}

/** Returns the request of a draft. */
export function toChatRequest(
  draft: ChatDraft,
  names: { userId: string | undefined; sessionId: string },
): ChatRequest {
  const { userId, sessionId } = names;
  return {
    messages: writeMessages(draft.only ? [draft.only] : joinRoles(draft), draft.contents),
    ...(userId === undefined ? {} : { user_id: userId }),
    session_id: draft.nameSession(sessionId),
    metadata: draft.metadata,
  };
}

/**
 * Joins the parts of a conversation. Between parts, user and assistant take turns, so that a request
 * has no peculiarity other than its properties.
 */
function joinRoles({ first, parts, last, length, contents }: ChatDraft): Role[] {
  const roles = [...first];
  const append = (part: readonly Role[]): void => {
    if (part[0] === 'user' && roles.at(-1) === 'user') roles.push('assistant');
    if (part[0] === 'assistant' && roles.at(-1) === 'assistant') roles.push('user');
    roles.push(...part);
  };
  for (const part of parts) append(part);
  const hasRoom = (): boolean =>
    roles.length + last.length < length ||
    roles.concat(last).filter((role) => role === 'user').length < contents.length;
  while (hasRoom()) append(roles.at(-1) === 'user' ? ['assistant'] : ['user']);
  if (last.length > 0) append(last);
  else if (roles.at(-1) !== 'user') roles.push('user');
  return roles;
}

const texts: Record<Role, string> = {
  system: 'The customer writes in the evening.',
  user: GREETING,
  assistant: 'Hello! I can help you with your orders.',
};

/** Gives the first user messages the texts, and all other messages one that doesn't matter. */
function writeMessages(roles: readonly Role[], contents: readonly string[]): ChatMessage[] {
  const left = [...contents];
  return roles.map((role) => ({
    role,
    content: (role === 'user' ? left.shift() : undefined) ?? texts[role],
  }));
}
