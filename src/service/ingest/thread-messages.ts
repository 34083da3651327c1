import { errorOrigin } from '../../platform/error-origin.ts';
import type { InsertResult } from '../store/store.ts';
import type { RefusedSpans } from './read-spans.ts';

// What the writer and its thread say to each other.

/** A trace request whose headers were accepted; its body is not even inflated. */
export interface IngestTask {
  ownerId: string;
  /** Server time. */
  receivedAtMs: number;
  contentType: 'json' | 'protobuf';
  gzip: boolean;
  /** Handed to the thread: the caller's is empty afterwards. */
  body: ArrayBuffer;
  /** `X-Conversation-Id`. */
  headerConversationId?: string;
}

/** What became of a trace request. */
export type IngestResult =
  /** Its spans are durable; `notes` of them went into the ingest log. */
  | { kind: 'kept'; kept: InsertResult; notes: number }
  /** None of its spans can be kept (spec 7); the code is one of the service's error table. */
  | ({ kind: 'refused' } & RefusedSpans['refused'])
  /** Not what its content type and encoding say. */
  | { kind: 'malformed'; message: string }
  /** Larger than allowed once inflated. */
  | { kind: 'too_large'; message: string }
  /** The writer holds as much as it may; nothing was done. */
  | { kind: 'busy'; message: string }
  /** The disk takes nothing, as SQLite's code in `message` says: to be sent again. */
  | { kind: 'unwritable'; message: string }
  /** Not kept, or not known to be: to be sent again, which is safe. */
  | { kind: 'failed'; message: string };

/** A job on its way to the thread. */
export interface TaskMessage {
  id: number;
  job: IngestTask;
}

/** Its result on its way back. */
export interface ResultMessage {
  id: number;
  result: IngestResult;
}

/** Ends the thread once all before it is answered. */
export type CloseMessage = 'close';

/** What the thread is told. */
export interface ThreadData {
  file: string;
  isTemporary: boolean;
}

/** What kind of error it was and where it came up; its message may quote a conversation. */
export function describeOrigin(error: unknown): string {
  const { name, at } = errorOrigin(error);
  const code = error instanceof Error && 'code' in error ? ` ${String(error.code)}` : '';
  return `${name}${code} ${at}`;
}
