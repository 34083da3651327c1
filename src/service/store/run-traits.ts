import type { EvalDefinition } from '../../contract/index.ts';
import type { Reader } from './connections.ts';
import type { JsonObject } from './records.ts';
import { parseJsonColumn } from './session-rows.ts';

/** What may explain a difference between two runs, from the newest sessions of a run. */
export interface RunTraits {
  /** How many sessions were read. */
  sessions: number;
  agents: { name: string; url: string }[];
  /** Models that the spans name, sorted. */
  models: string[];
  /** Tags and metadata: the distinct values of each key, sorted. */
  tags: { key: string; values: string[] }[];
  /** The evals that scored the sessions, as defined then. */
  evals: EvalDefinition[];
}

/** Where the sessions of a run are. */
interface RunKey {
  ownerId: string;
  column: 'run_key' | 'simulation_key';
  key: number;
}

/** The most spans to read for the names of models. */
const SPANS_MAX = 1_000;
/** The most tags to read. */
const TAGS_MAX = 5_000;

/** Reads what the newest sessions of a run have in common. */
export async function readTraits(
  db: Reader,
  { ownerId, column, key }: RunKey,
  sessionsMax: number,
): Promise<RunTraits> {
  const sessions = await db
    .selectFrom('sessions')
    .select(['key', 'agent_key', 'source_session_id', 'metadata', 'simulated'])
    .where(column, '=', key)
    .where('owner_id', '=', ownerId)
    // The sessions of a simulation are sorted by scenario; sorting them by time would read all of them.
    .$if(column === 'run_key', (query) => query.orderBy('started_at_ms', 'desc'))
    .limit(sessionsMax)
    .execute();
  const conversationKeys = await findConversations(db, ownerId, sessions);
  const stored = await listTags(db, conversationKeys);
  const metadata = sessions.flatMap((session) => listMetadata(parseJsonColumn(session.metadata)));
  const agentKeys = sessions.flatMap((session) => session.agent_key ?? []);
  const agents = await db
    .selectFrom('agents')
    .select(['name', 'url'])
    .where('key', 'in', [...new Set(agentKeys), -1])
    .execute();
  const sessionKeys = sessions.map((session) => session.key);
  return {
    sessions: sessions.length,
    agents: [...agents, ...(await listTracedAgents(db, sessionKeys))],
    models: await listModels(db, conversationKeys),
    tags: groupTags([...stored, ...metadata]),
    evals: await listDefinitions(db, sessionKeys),
  };
}

/** Lists the agents that the spans of live conversations name. */
async function listTracedAgents(
  db: Reader,
  sessionKeys: readonly number[],
): Promise<RunTraits['agents']> {
  const rows = await db
    .selectFrom('traced_sessions')
    .select('agent')
    .distinct()
    .where('session_key', 'in', [...sessionKeys, -1])
    .orderBy('agent')
    .execute();
  return rows.flatMap(({ agent }) => (agent === null ? [] : { name: agent, url: '' }));
}

interface SessionRow {
  source_session_id: string | null;
  simulated: string | null;
}

/** Finds the conversations of sessions: their own, or those in the traces of simulated sessions. */
async function findConversations(
  db: Reader,
  ownerId: string,
  sessions: readonly SessionRow[],
): Promise<number[]> {
  const ids = sessions.flatMap((session) => session.source_session_id ?? []);
  const conversations = await db
    .selectFrom('conversations')
    .select('key')
    .where('owner_id', '=', ownerId)
    .where('conversation_id', 'in', [...ids, ''])
    .execute();
  const traceIds = sessions.flatMap((session) => {
    const traced = parseJsonColumn(session.simulated)?.['trace_ids'];
    return Array.isArray(traced) ? traced.map(String) : [];
  });
  const traces = await db
    .selectFrom('traces')
    .select('conversation_key')
    .where('owner_id', '=', ownerId)
    .where('trace_id', 'in', [...traceIds.slice(0, SPANS_MAX), ''])
    .execute();
  const keys = [
    ...conversations.map((conversation) => conversation.key),
    ...traces.map((trace) => trace.conversation_key),
  ];
  return [...new Set(keys)];
}

async function listModels(db: Reader, conversationKeys: readonly number[]): Promise<string[]> {
  const rows = await db
    .selectFrom('spans')
    .select('attributes')
    .where('conversation_key', 'in', [...conversationKeys, -1])
    .where('operation', '=', 'chat')
    .limit(SPANS_MAX)
    .execute();
  const models = rows.flatMap(({ attributes }) => {
    const read = parseJsonColumn(attributes) ?? {};
    const model = read['gen_ai.response.model'] ?? read['gen_ai.request.model'];
    return typeof model === 'string' ? [model] : [];
  });
  return [...new Set(models)].sort();
}

type StoredTag = readonly [key: string, value: string];

async function listTags(db: Reader, conversationKeys: readonly number[]): Promise<StoredTag[]> {
  const rows = await db
    .selectFrom('tags')
    .select(['name', 'value'])
    .where('conversation_key', 'in', [...conversationKeys, -1])
    .limit(TAGS_MAX)
    .execute();
  return rows.map(({ name, value }) => [name, value]);
}

const listMetadata = (metadata: JsonObject = {}): StoredTag[] =>
  Object.entries(metadata).map(([key, value]) => [
    key,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);

function groupTags(tags: readonly StoredTag[]): RunTraits['tags'] {
  const byKey = Map.groupBy(tags, ([key]) => key);
  return Array.from(byKey, ([key, ofKey]) => ({
    key,
    values: [...new Set(ofKey.map(([, value]) => value))].sort(),
  })).sort((left, right) => (left.key < right.key ? -1 : 1));
}

/** Lists the evals that scored sessions; of several definitions with the same id, the newest. */
async function listDefinitions(
  db: Reader,
  sessionKeys: readonly number[],
): Promise<EvalDefinition[]> {
  const rows = await db
    .selectFrom('jobs')
    .select('definition')
    .where('session_key', 'in', [...sessionKeys, -1])
    .orderBy('id')
    .execute();
  const definitions = [...new Set(rows.map(({ definition }) => definition))].map(
    (definition) => JSON.parse(definition) as EvalDefinition,
  );
  return [...new Map(definitions.map((definition) => [definition.id, definition])).values()];
}
