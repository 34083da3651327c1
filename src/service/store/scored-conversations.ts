/** Reads many small conversations with few statements, for scoring. */
import type { Reader } from './connections.ts';
import {
  groupBySize,
  isLarge,
  placeColumns,
  toPlace,
  type Partitioned,
  type SizedPlace,
} from './conversation-reads.ts';
import { listLinksOfAll, listSpansOfAll } from './conversation-spans.ts';
import type { SpanLink, StoredSpan } from './records.ts';

/** A conversation of live traces with the session that scores it. */
export interface ScoredConversation {
  sessionId: string;
  conversationId: string;
  /** By start and then arrival, including those that arrived after the close. */
  spans: readonly StoredSpan[];
  links: readonly SpanLink[];
  /** By name and value. */
  tags: readonly { key: string; value: string }[];
}

/** A conversation with more ignored spans in its traces, or with more tags, is read alone. */
const LINKS_MAX = 200;
const TAGS_MAX = 20;

/**
 * Returns the conversations that sessions of one owner score, in groups of limited size. Leaves out
 * large ones, and sessions that have something else than their conversation, which are read alone.
 */
export async function* readScoredConversations(
  db: Reader,
  query: { ownerId: string; sessionIds: readonly string[] } & Partitioned,
): AsyncGenerator<ScoredConversation[]> {
  const sessionIds = await findSmall(db, query);
  for (const group of groupBySize([...sessionIds.keys()])) {
    const spans = await listSpansOfAll(db, group);
    const links = await listLinksOfAll(db, query.ownerId, spans);
    const tags = await listTags(db, group);
    yield group.flatMap((place) => {
      const own = spans.get(place) ?? [];
      const ownLinks = links.get(place) ?? [];
      // Spans may have been removed meanwhile.
      if (own.length === 0 || ownLinks.length > LINKS_MAX) return [];
      return {
        sessionId: sessionIds.get(place) ?? '',
        conversationId: place.conversationId,
        spans: own,
        links: ownLinks,
        tags: tags.get(place.key) ?? [],
      };
    });
  }
}

/**
 * Finds the small conversations that sessions score, if the sessions have nothing else, with the ids of
 * the sessions. A statement for each table reads a unique index; PostgreSQL may plan a join in a way that
 * takes ten times as long.
 */
async function findSmall(
  db: Reader,
  query: { ownerId: string; sessionIds: readonly string[] } & Partitioned,
): Promise<ReadonlyMap<SizedPlace, string>> {
  const { ownerId, sessionIds } = query;
  const sessions = await db
    .selectFrom('sessions')
    .select(['key', 'id', 'source_session_id'])
    .where('owner_id', '=', ownerId)
    .where('id', 'in', sessionIds)
    .where('kind', '=', 'production')
    .where((eb) =>
      eb.and(
        (['metadata', 'simulated', 'agent_key', 'scenario', 'persona'] as const).map((column) =>
          eb(column, 'is', null),
        ),
      ),
    )
    .execute();
  const byConversation = new Map(sessions.map((row) => [row.source_session_id ?? '', row]));
  if (byConversation.size === 0) return new Map();
  const stored = await db
    .selectFrom('turns')
    .select('session_key')
    .distinct()
    .where(
      'session_key',
      'in',
      sessions.map(({ key }) => key),
    )
    .execute();
  const haveTurns = new Set(stored.map((row) => row.session_key));
  const conversations = await db
    .selectFrom('conversations')
    .select([...placeColumns, 'session_key'])
    .where('owner_id', '=', ownerId)
    .where('conversation_id', 'in', [...byConversation.keys()])
    .where('spans_removed_at_ms', 'is', null)
    .where('tag_count', '<=', TAGS_MAX)
    .execute();
  const small = new Map<SizedPlace, string>();
  for (const row of conversations) {
    const session = byConversation.get(row.conversation_id);
    if (!session || session.key !== row.session_key || haveTurns.has(session.key)) continue;
    const place = toPlace(row, query);
    if (!isLarge(place)) small.set(place, session.id);
  }
  return small;
}

async function listTags(
  db: Reader,
  places: readonly SizedPlace[],
): Promise<Map<number, { key: string; value: string }[]>> {
  const keys = places.map(({ key }) => key);
  const rows = await db
    .selectFrom('tags')
    .select(['conversation_key', 'name', 'value'])
    .where('conversation_key', 'in', keys)
    .orderBy('name')
    .orderBy('value')
    .execute();
  return Map.groupBy(
    rows.map(({ conversation_key: of, name, value }) => ({ of, key: name, value })),
    ({ of }) => of,
  );
}
