/** The messages between the main thread and the ingest thread. */
import { errorOrigin, errorCode } from '../../platform/error-origin.ts';
import type { ConnectionCounts } from '../store/connections.ts';
import type { DatabaseProblem } from '../store/database-problem.ts';
import type { InsertResult, StoreLocation } from '../store/store.ts';
import type { RejectedSpans } from './read-spans.ts';

/** A trace request whose headers were accepted. Its body is not even decompressed yet. */
export interface IngestTask {
  ownerId: string;
  /** Server time. */
  receivedAtMs: number;
  contentType: 'json' | 'protobuf';
  gzip: boolean;
  /** Transferred to the thread, not copied: empty afterward on the sender's side. */
  body: ArrayBuffer;
  /** `X-Conversation-Id`. */
  headerConversationId?: string;
  /** The name of the exporter. */
  exporter?: string;
}

/** The result of a trace request. */
export type IngestResult =
  /**
   * The spans are stored durably. `logEntries` counts the entries that ingest itself wrote; `hasText` says
   * whether a span has messages.
   */
  | { kind: 'stored'; result: InsertResult; logEntries: number; hasText: boolean }
  /** None of its spans can be stored (spec 7). The code is one of the service's error table. */
  | ({ kind: 'rejected' } & RejectedSpans['rejection'])
  /** The body does not match its content type or encoding. */
  | { kind: 'malformed'; message: string }
  /** The decompressed body is too large. */
  | { kind: 'too_large'; message: string }
  /** Too many bytes are in flight; the request was not processed. */
  | { kind: 'busy'; message: string }
  /** The database has a problem. The client should retry, which is safe. */
  | { kind: 'database_failed'; problem: DatabaseProblem }
  /** Not stored, or not known to be stored. The client should retry, which is safe. */
  | { kind: 'failed'; message: string };

/** Sends a task to the thread. */
export interface TaskMessage {
  id: number;
  task: IngestTask;
}

/** Returns the result of a task. */
export interface ResultMessage {
  id: number;
  result: IngestResult;
}

/** Asks the thread to count its connections to the database. */
export type CountMessage = 'count';

/** Returns what the thread counted. */
export interface CountsMessage {
  connections: ConnectionCounts | undefined;
}

/** Tells the thread to finish all earlier tasks and end. */
export type CloseMessage = 'close';

/** The `workerData` of the thread. */
export type ThreadData = StoreLocation;

/** Describes an error by name, code and place. Its message may quote a conversation. */
export function describeOrigin(error: unknown): string {
  const { error: name, at } = errorOrigin(error);
  const code = errorCode(error);
  return `${name}${code === '' ? '' : ` ${code}`} ${at}`;
}
