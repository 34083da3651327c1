import type { Persona, Scenario } from '../../contract/index.ts';
import type { Connections, Reader, WriteTransaction } from './connections.ts';
import { nameAgent } from './names.ts';

/** An agent that simulations test. Its API key is stored separately, so no list can expose it. */
export interface StoredAgent {
  id: string;
  name: string;
  /** Base URL of its sandbox. */
  url: string;
  /** URL of its voice WebSocket; `/voice` below `url` if absent. */
  voice_url?: string;
  has_api_key: boolean;
  /** How often its addresses or its key have changed (default: 0). */
  connection?: number;
}

/** The documents that simulations refer to, by kind. */
export interface Documents {
  agent: StoredAgent;
  persona: Persona;
  scenario: Scenario;
}

export type DocumentKind = keyof Documents;

/** A document to insert. */
export type NewDocument =
  | { kind: 'agent'; document: StoredAgent; secret: string | undefined }
  | { kind: 'persona'; document: Persona }
  | { kind: 'scenario'; document: Scenario };

/** Creates the store of the documents that simulations refer to: agents, personas, scenarios. */
export function createDocumentStore({ reader, write }: Connections) {
  return {
    /** Adds a document with its secret, or replaces the one with the same id. */
    put: (ownerId: string, added: NewDocument): Promise<void> =>
      write(ownerId, (db) => putDocument(db, ownerId, added)),
    /** Lists up to `limit` documents in the order they were added. */
    async list<Kind extends keyof Documents>(
      ownerId: string,
      kind: Kind,
      limit: number,
    ): Promise<Documents[Kind][]> {
      const rows = await selectFirst(reader(ownerId), { ownerId, kind, limit })
        .select('document')
        .execute();
      return rows.map(({ document }) => JSON.parse(document) as Documents[Kind]);
    },
    /** Lists the ids of up to `limit` documents in the order they were added, without reading these. */
    async listIds(ownerId: string, kind: DocumentKind, limit: number): Promise<string[]> {
      const rows = await selectFirst(reader(ownerId), { ownerId, kind, limit })
        .select('id')
        .execute();
      return rows.map(({ id }) => id);
    },
    async find<Kind extends keyof Documents>(
      ownerId: string,
      kind: Kind,
      id: string,
    ): Promise<Documents[Kind] | undefined> {
      const row = await reader(ownerId)
        .selectFrom('documents')
        .select('document')
        .where('owner_id', '=', ownerId)
        .where('kind', '=', kind)
        .where('id', '=', id)
        .executeTakeFirst();
      return row && (JSON.parse(row.document) as Documents[Kind]);
    },
    /** Deletes a document and the reports about it; returns false if the document does not exist. */
    remove: (ownerId: string, kind: DocumentKind, id: string): Promise<boolean> =>
      write(ownerId, async (db) => {
        const { numDeletedRows } = await db
          .deleteFrom('documents')
          .where('owner_id', '=', ownerId)
          .where('kind', '=', kind)
          .where('id', '=', id)
          .executeTakeFirst();
        if (kind === 'agent') {
          await db
            .deleteFrom('agent_reports')
            .where('owner_id', '=', ownerId)
            .where('agent_id', '=', id)
            .execute();
        }
        return numDeletedRows > 0n;
      }),
    /** Returns the API key of an agent's sandbox, if it has one. Use it only to call that sandbox. */
    async findApiKey(ownerId: string, agentId: string): Promise<string | undefined> {
      const row = await reader(ownerId)
        .selectFrom('documents')
        .select('secret')
        .where('owner_id', '=', ownerId)
        .where('kind', '=', 'agent')
        .where('id', '=', agentId)
        .executeTakeFirst();
      return row?.secret ?? undefined;
    },
  };
}

/** Selects up to `limit` documents in the order they were added. */
const selectFirst = (
  db: Reader,
  { ownerId, kind, limit }: { ownerId: string; kind: DocumentKind; limit: number },
) =>
  db
    .selectFrom('documents')
    .where('owner_id', '=', ownerId)
    .where('kind', '=', kind)
    .orderBy('key')
    .limit(limit);

/** Adds a document with its secret, or replaces the one with the same id. */
export async function putDocument(
  db: WriteTransaction,
  ownerId: string,
  added: NewDocument,
): Promise<void> {
  const { kind, document } = added;
  const content = {
    document: JSON.stringify(document),
    secret: added.kind === 'agent' ? (added.secret ?? null) : null,
  };
  if (added.kind === 'agent') {
    const existing = await db
      .selectFrom('documents')
      .select('key')
      .where('owner_id', '=', ownerId)
      .where('kind', '=', kind)
      .where('id', '=', document.id)
      .executeTakeFirst();
    await nameAgent(db, ownerId, { ...added.document, isNew: existing === undefined });
  }
  await db
    .insertInto('documents')
    .values({ owner_id: ownerId, kind, id: document.id, ...content })
    .onConflict((conflict) => conflict.columns(['owner_id', 'kind', 'id']).doUpdateSet(content))
    .execute();
}
