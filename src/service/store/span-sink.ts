import type { InsertResult, TraceRequestRows } from './store.ts';

/**
 * Where spans go in. Stands apart from the store because it runs in the writer's thread, on a
 * connection of its own: many requests share one durable transaction.
 */
export interface SpanWriter {
  /**
   * Keeps the spans of several requests in one transaction, one result for each. Rows are unique by
   * owner and span id: one that comes again changes nothing, whatever its conversation. When it
   * returns, the transaction is durable. A request that cannot be kept throws, and none of its
   * neighbours is lost with it: its place holds the error.
   */
  insert(requests: readonly TraceRequestRows[]): (InsertResult | Error)[];
  /** The conversations that earlier spans of these traces belong to, by trace id. */
  findConversations(ownerId: string, traceIds: readonly string[]): Map<string, string>;
  close(): void;
}
