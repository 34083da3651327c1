/** The conversations that a client sent and ended. */
import { computeOnce } from '../../../src/platform/compute-once.ts';
import { type Exchange, isAccepted, type Transcript } from '../../engine/transcript/reading.ts';
import { endedConversationOf } from '../service/transcript.ts';
import { findOtherKeys } from './empty-traces.ts';
import {
  conversationsOf,
  conversationSpansOf,
  hasConversation,
  headerConversationOf,
  isTraces,
  readTraces,
} from './sent-traces.ts';

/** Returns whether an exchange is an end call. */
export const isEnd = ({ endpoint }: Exchange): boolean => endpoint === 'end';

/** The requests that sent spans of a conversation, by its id. */
type SentConversations = ReadonlyMap<string, [Exchange, ...Exchange[]]>;

/** Returns the requests that sent spans of each conversation. */
export const sentConversationsOf = computeOnce((transcript: Transcript): SentConversations => {
  const conversations = conversationsOf(transcript);
  const sent = new Map<string, [Exchange, ...Exchange[]]>();
  for (const exchange of transcript.exchanges.filter(isTraces)) {
    const ids = conversationSpansOf(exchange).flatMap((span) => conversations.get(span) ?? []);
    for (const id of new Set(ids)) {
      const requests = sent.get(id);
      if (requests) requests.push(exchange);
      else sent.set(id, [exchange]);
    }
  }
  return sent;
});

/** Returns the first accepted end call of each conversation whose spans were sent. */
export const endedConversationsOf = computeOnce(
  (transcript: Transcript): ReadonlyMap<string, Exchange> => {
    const sent = sentConversationsOf(transcript);
    const ended = new Map<string, Exchange>();
    for (const exchange of transcript.exchanges.filter(isEnd).filter(isAccepted)) {
      const id = endedConversationOf(exchange);
      if (id !== undefined && sent.has(id) && !ended.has(id)) ended.set(id, exchange);
    }
    return ended;
  },
);

/** The conversation ids and other values of trace requests that the service refused or did not read. */
interface UnreadValues {
  values: ReadonlySet<string>;
  /** Whether the ids of some request are unknown. */
  isAnyUnknown: boolean;
}

const unreadValuesOf = computeOnce(({ exchanges }: Transcript): UnreadValues => {
  const values = new Set<string>();
  let isAnyUnknown = false;
  for (const exchange of exchanges) {
    if (!isTraces(exchange)) {
      isAnyUnknown ||= isMisdirectedTrace(exchange);
      continue;
    }
    const traces = readTraces(exchange);
    const isRead =
      traces.kind === 'read' &&
      traces.ignoredKeys.length === 0 &&
      findOtherKeys(exchange) === undefined;
    if (!isRead || (!isAccepted(exchange) && !hasConversation(exchange))) isAnyUnknown = true;
    const header = headerConversationOf(exchange);
    if (header !== undefined) values.add(header);
    for (const { attributes, resource } of traces.kind === 'read' ? traces.spans : []) {
      for (const value of [...Object.values(attributes), ...Object.values(resource)]) {
        if (typeof value === 'string' || typeof value === 'number') values.add(String(value));
      }
    }
  }
  return { values, isAnyUnknown };
});

/** Returns whether a request was probably meant to be a trace request (CLIENT-003). */
const isMisdirectedTrace = ({ endpoint, request: { method, path } }: Exchange): boolean =>
  endpoint === 'elsewhere' && method !== 'GET' && /trace/i.test(path);

/**
 * Returns whether the client sent a conversation, or may have, in a form that the service did not
 * store. Another requirement says why.
 */
export function mayContainConversation(id: string, transcript: Transcript): boolean {
  const { values, isAnyUnknown } = unreadValuesOf(transcript);
  return isAnyUnknown || values.has(id);
}
