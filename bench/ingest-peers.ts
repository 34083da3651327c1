/**
 * What the ingest of spans is compared with: the fastest ways to store the same rows in the same tables,
 * in transactions of the same size, with the same durability. They neither validate nor read anything, and
 * do not handle duplicates.
 */
import pg from 'pg';
import { toDay } from '../src/platform/clock.ts';
import { tables } from '../src/service/store/schema/tables.ts';
import { columnsIn } from '../src/service/store/schema/table.ts';
import { openFile } from '../src/service/store/sqlite/open-file.ts';
import { findBounds, toSpanRow } from '../src/service/store/span-writer.ts';
import { measureText } from '../src/service/store/conversation-limits.ts';
import type { TraceRequestRows } from '../src/service/store/store.ts';

type Value = string | number | bigint | null;
type Row = Record<string, Value>;

/** In the order in which they are filled. */
const TABLES = ['conversations', 'spans', 'traces', 'tags'] as const;

/** The rows of some requests, by table. */
type Rows = Record<(typeof TABLES)[number], Row[]>;

/** Stores requests that were prepared earlier, so that only storing is measured. */
export interface Peer {
  prepare: (requests: readonly TraceRequestRows[]) => () => Promise<void>;
  close: () => Promise<void>;
}

let lastKey = 1_000_000_000;

/** Each request starts a conversation, and each span a trace. */
function toRows(requests: readonly TraceRequestRows[]): Rows {
  const rows: Rows = { conversations: [], spans: [], traces: [], tags: [] };
  for (const request of requests) {
    const { ownerId: owner_id, receivedAtMs, spans, tags } = request;
    const key = (lastKey += 1);
    const target = { key, isNew: true, isClosed: false, isRemoved: false };
    const conversation = { ...target, tagCount: 0, spanCount: 0, textBytes: 0 };
    const [first, last] = findBounds(spans, receivedAtMs);
    const ofSpans = spans.map((span) => ({
      owner_id,
      received_day: toDay(receivedAtMs),
      ...toSpanRow(span, { request, conversation }),
    }));
    rows.spans.push(...ofSpans);
    rows.conversations.push({
      key,
      owner_id,
      conversation_id: spans[0]?.conversationId ?? '',
      first_start_ns: first,
      last_end_ns: last,
      last_received_at_ms: receivedAtMs,
      tag_count: tags.length,
      span_count: spans.length,
      text_bytes: ofSpans.reduce((sum, span) => sum + measureText(span), 0),
      received_day: toDay(receivedAtMs),
    });
    for (const { trace_id } of ofSpans) {
      rows.traces.push({ owner_id, trace_id, conversation_key: key });
    }
    for (const { key: name, value } of tags) {
      rows.tags.push({ owner_id, conversation_key: key, name, value });
    }
  }
  return rows;
}

/** Inserts rows into a file that has its tables, with prepared statements in a loop. */
export function openInsertLoop(file: string): Peer {
  const db = openFile(file, { busyMs: 1_000 });
  return {
    prepare(requests) {
      const rows = toRows(requests);
      const inserts = TABLES.filter((table) => rows[table].length > 0).map((table) => {
        const stored = Object.keys(columnsIn(tables[table], 'sqlite'));
        const columns = Object.keys(rows[table][0] ?? {}).filter((name) => stored.includes(name));
        const marks = columns.map(() => '?').join();
        return {
          statement: db.prepare(`insert into ${table} (${columns.join()}) values (${marks})`),
          values: rows[table].map((row) => columns.map((name) => row[name])),
        };
      });
      return () => {
        db.transaction(() => {
          for (const { statement, values } of inserts) {
            for (const each of values) statement.run(...each);
          }
        }).immediate();
        return Promise.resolve();
      };
    },
    close() {
      db.close();
      return Promise.resolve();
    },
  };
}

/** Copies rows into a database that has its tables, one COPY per table. */
export async function openCopy(databaseUrl: string): Promise<Peer> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  return {
    prepare(requests) {
      const rows = toRows(requests);
      const ids = rows.spans.map(({ owner_id = '', span_id = '', conversation_key = 0 }) => {
        return { owner_id, span_id, conversation_key };
      });
      const copies = Object.entries({ ...rows, span_ids: ids })
        .filter(([, ofTable]) => ofTable.length > 0)
        .map(([table, ofTable]) => new Copy(table, ofTable));
      return async () => {
        await client.query('begin');
        for (const copy of copies) {
          client.query(copy);
          await copy.done;
        }
        await client.query('commit');
      };
    },
    close: () => client.end(),
  };
}

/** A COPY statement that sends rows in text format. The driver does not support COPY. */
class Copy implements pg.Submittable {
  readonly #text: string;
  readonly #data: Buffer;
  readonly #outcome = Promise.withResolvers<undefined>();

  constructor(table: string, rows: readonly Row[]) {
    const columns = Object.keys(rows[0] ?? {});
    this.#text = `copy ${table} (${columns.join()}) from stdin`;
    const lines = rows.map((row) => columns.map((name) => toCopyText(row[name])).join('\t'));
    this.#data = Buffer.from(`${lines.join('\n')}\n`);
  }

  get done(): Promise<undefined> {
    return this.#outcome.promise;
  }

  submit(connection: pg.Connection): void {
    (connection as unknown as { query: (text: string) => void }).query(this.#text);
  }

  handleCopyInResponse(connection: pg.Connection): void {
    const header = Buffer.from('d____');
    header.writeInt32BE(this.#data.length + 4, 1);
    connection.stream.write(Buffer.concat([header, this.#data, Buffer.from('c\0\0\0\u0004')]));
  }

  handleCommandComplete(): void {
    // The driver calls it; the outcome is known when the connection is ready again.
  }

  handleReadyForQuery(): void {
    this.#outcome.resolve(undefined);
  }

  handleError(error: Error): void {
    this.#outcome.reject(error);
  }
}

const escapes: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

const toCopyText = (value: Value | undefined): string =>
  value === null || value === undefined
    ? '\\N'
    : String(value).replaceAll(/[\\\n\r\t]/g, (character) => escapes[character] ?? '');
