import type { TracedTurn } from '../turns/turn-types.ts';
import { toSearchText } from './add-sessions.ts';
import type { Reader, WriteTransaction } from './connections.ts';
import { insertRows } from './insert-rows.ts';
import type { StoredSpan } from './records.ts';

/** What the spans of a live conversation say about the session that scores it. */
export interface TracedSession {
  /** The text that a search finds it by. */
  searchText: string;
  /** The name of the agent that the first span names. */
  agent: string | undefined;
  turns: number;
  /** The response times of the first turns that were measured. */
  responseMs: readonly number[];
}

/** The most response times of a session. */
const RESPONSES_MAX = 200;

/** Describes a session by the spans that evals see, in their order, and by its turns. */
export const describeTracedSession = (
  spans: readonly Pick<StoredSpan, 'attributes'>[],
  turns: readonly TracedTurn[],
): TracedSession => ({
  searchText: toSearchText(turns),
  agent: findAgent(spans),
  turns: turns.length,
  responseMs: turns.flatMap(toResponseMs).slice(0, RESPONSES_MAX),
});

/** The most characters of the name of an agent, as of one that is tested. */
const AGENT_CHARS_MAX = 200;

function findAgent(spans: readonly Pick<StoredSpan, 'attributes'>[]): string | undefined {
  for (const { attributes } of spans) {
    const name = attributes['gen_ai.agent.name'];
    if (typeof name === 'string' && name !== '')
      return name.slice(0, AGENT_CHARS_MAX).toWellFormed();
  }
  return undefined;
}

/** A turn without a usable response has no time, nor has one whose spans have no duration. */
const toResponseMs = ({ failed, latencyMs }: TracedTurn): number[] =>
  failed || latencyMs === 0 ? [] : [Math.round(latencyMs * 10) / 10];

/** The tag that says how the user reached the agent, such as `voice`. */
export const CHANNEL_TAG = 'channel';

/** The spans of a conversation and the session that scores it. */
interface NewTracedSession {
  sessionKey: number;
  conversationKey: number;
  traced: TracedSession;
}

/** Stores what the spans of conversations say about their new sessions. */
export async function insertTracedSessions(
  db: WriteTransaction,
  sessions: readonly NewTracedSession[],
): Promise<void> {
  const tags = await db
    .selectFrom('tags')
    .select(['conversation_key', 'value'])
    .where(
      'conversation_key',
      'in',
      sessions.map(({ conversationKey }) => conversationKey),
    )
    .where('name', '=', CHANNEL_TAG)
    .orderBy('value', 'desc')
    .execute();
  // The first value in alphabetical order, if there are several.
  const channels = new Map(tags.map((tag) => [tag.conversation_key, tag.value]));
  const texts = sessions.map(({ sessionKey, traced }) => ({
    session_key: sessionKey,
    text: traced.searchText,
  }));
  const rows = sessions.map(({ sessionKey, conversationKey, traced }) => ({
    session_key: sessionKey,
    agent: traced.agent ?? null,
    channel: channels.get(conversationKey) ?? null,
    turns: traced.turns,
    response_ms: JSON.stringify(traced.responseMs),
  }));
  await insertRows({ db }, 'session_texts', texts);
  await insertRows({ db }, 'traced_sessions', rows);
}

/** Finds who responded in a session of live traces, and by which channel, if its spans say it. */
export async function findTracedTarget(
  db: Reader,
  ownerId: string,
  sessionId: string,
): Promise<{ agent: string | undefined; channel: string | undefined }> {
  const row = await db
    .selectFrom('traced_sessions')
    .innerJoin('sessions', 'sessions.key', 'traced_sessions.session_key')
    .select(['agent', 'channel'])
    .where('sessions.owner_id', '=', ownerId)
    .where('sessions.id', '=', sessionId)
    .executeTakeFirst();
  return { agent: row?.agent ?? undefined, channel: row?.channel ?? undefined };
}
