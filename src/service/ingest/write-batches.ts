/**
 * The loop of the ingest thread: it decodes tasks, writes them in batches, and returns the results.
 *
 * - A batch is whatever arrived while the previous batch was written, up to a limit. One durable
 *   commit serves the whole batch, so throughput grows with load, and a single request never waits
 *   for others.
 * - Results are sent only after the commit.
 * - Batching must not change what a request sees. If a task needs the conversation of a trace that an
 *   earlier task of the same batch brings, the batch is written first. That is rare.
 */
import { receiveMessageOnPort, type MessagePort } from 'node:worker_threads';
import { findDatabaseProblem } from '../store/database-problem.ts';
import type { SpanWriter } from '../store/span-writer.ts';
import type { InsertResult, TraceRequestRows } from '../store/store.ts';
import type { Decoded, ReadBody } from './decode-body.ts';
import { isError } from '../../platform/error-origin.ts';
import {
  describeOrigin,
  type CloseMessage,
  type CountMessage,
  type CountsMessage,
  type IngestResult,
  type IngestTask,
  type ResultMessage,
  type TaskMessage,
} from './thread-messages.ts';

/** Dependencies of the loop. */
export interface BatchDeps {
  port: MessagePort;
  spanWriter: SpanWriter;
  /** Decodes a body. If it throws, which is a bug, only that request fails. */
  decode: (task: IngestTask) => ReadBody;
}

/** Requests in one batch. */
const BATCH_REQUESTS_MAX = 64;

/** Decompressed bytes in one batch, which are in memory together; the last request may exceed it. */
const BATCH_BYTES_MAX = 16_777_216;

type Message = TaskMessage | CloseMessage;

/** Processes tasks until it receives a close message. Sends an empty list of results when ready. */
export function processTasks(deps: BatchDeps): void {
  const { port, spanWriter } = deps;
  const received: Message[] = [];
  let isProcessing = false;
  const processAll = async (): Promise<void> => {
    isProcessing = true;
    for (let first = received.shift(); first !== undefined; first = received.shift()) {
      const isClosing = first === 'close' || (await processBatch(deps, first, received));
      if (!isClosing) continue;
      await spanWriter.close();
      port.close();
    }
    isProcessing = false;
  };
  port.on('message', (message: Message | CountMessage) => {
    if (message === 'count') {
      sendCounts(deps);
      return;
    }
    received.push(message);
    if (!isProcessing) void processAll();
  });
  port.postMessage([] satisfies ResultMessage[]);
}

interface DecodedTask {
  id: number;
  task: IngestTask;
  decoded: Decoded | LookupFailure;
}

/** The conversations of stored traces could not be read. */
interface LookupFailure {
  kind: 'lookup_failed';
  error: unknown;
  bytes: number;
}

/** Decoded tasks that are written together. */
class Batch {
  readonly #deps: BatchDeps;
  #tasks: DecodedTask[] = [];
  #bytes = 0;

  constructor(deps: BatchDeps) {
    this.#deps = deps;
  }

  get isFull(): boolean {
    return this.#tasks.length === BATCH_REQUESTS_MAX || this.#bytes >= BATCH_BYTES_MAX;
  }

  add(task: DecodedTask): void {
    this.#tasks.push(task);
    this.#bytes += task.decoded.bytes;
  }

  /** Returns whether a task of an owner brings spans of one of these traces. */
  hasTrace(ownerId: string, traceIds: ReadonlySet<string>): boolean {
    return this.#tasks.some(
      ({ task, decoded }) =>
        task.ownerId === ownerId &&
        decoded.kind === 'read' &&
        decoded.rows.spans.some(({ traceId }) => traceIds.has(traceId)),
    );
  }

  /** Writes all tasks and sends their results. The batch is empty then. */
  async write(): Promise<void> {
    const { port, spanWriter } = this.#deps;
    const tasks = this.#tasks;
    this.#tasks = [];
    this.#bytes = 0;
    const rows = tasks.map(({ task, decoded }) => toRows(task, decoded));
    const inserted = await spanWriter.insert(rows);
    const results: ResultMessage[] = tasks.map(({ id, decoded }, index) => {
      return { id, result: toResult(decoded, inserted[index]) };
    });
    port.postMessage(results);
  }
}

/** Writes what has arrived, beginning with a task. Returns whether the thread must close then. */
async function processBatch(
  deps: BatchDeps,
  first: TaskMessage,
  received: Message[],
): Promise<boolean> {
  const batch = new Batch(deps);
  let next: Message | undefined = first;
  while (next !== undefined && next !== 'close') {
    batch.add({ ...next, decoded: await decodeTask(deps, next.task, batch) });
    if (batch.isFull) break;
    next = received.shift() ?? receiveWaiting(deps);
  }
  await batch.write();
  return next === 'close';
}

/**
 * Decodes a task. If its conversations depend on stored traces, which are unknown until its spans are
 * read, looks them up and reads the spans again. A batch that may contain these traces is written first.
 */
async function decodeTask(
  { decode, spanWriter }: BatchDeps,
  task: IngestTask,
  batch: Batch,
): Promise<Decoded | LookupFailure> {
  const bytes = task.body.byteLength;
  const known = new Map<string, string>();
  const lookedUp = new Set<string>();
  let read: ReadBody | undefined;
  for (;;) {
    const missing = new Set<string>();
    let decoded: Decoded;
    try {
      read ??= decode(task);
      decoded = read({
        findConversations(traceIds) {
          for (const id of traceIds) if (!lookedUp.has(id)) missing.add(id);
          return known;
        },
      });
    } catch (error) {
      return { kind: 'failed', message: describeOrigin(error), bytes };
    }
    if (missing.size === 0) return decoded;
    if (batch.hasTrace(task.ownerId, missing)) await batch.write();
    try {
      const found = await spanWriter.findConversations(task.ownerId, [...missing]);
      for (const [traceId, conversationId] of found) known.set(traceId, conversationId);
    } catch (error) {
      return { kind: 'lookup_failed', error, bytes: decoded.bytes };
    }
    for (const id of missing) lookedUp.add(id);
  }
}

/** Returns the next message if one has already arrived. Counts immediately, even in a batch. */
function receiveWaiting(deps: BatchDeps): Message | undefined {
  for (;;) {
    const received = receiveMessageOnPort(deps.port) as
      { message: Message | CountMessage } | undefined;
    if (received?.message !== 'count') return received?.message;
    sendCounts(deps);
  }
}

function sendCounts({ port, spanWriter }: BatchDeps): void {
  port.postMessage({ connections: spanWriter.countConnections() } satisfies CountsMessage);
}

/** Returns the rows to insert; for a rejected request, the log entries that say why. */
function toRows(
  { ownerId, receivedAtMs, exporter }: IngestTask,
  decoded: DecodedTask['decoded'],
): TraceRequestRows {
  const sender = exporter === undefined ? {} : { exporter };
  if (decoded.kind === 'read') return { ...decoded.rows, ...sender };
  const logEntries = decoded.kind === 'rejected' ? decoded.logEntries : [];
  return { ownerId, receivedAtMs, spans: [], tags: [], links: [], logEntries, ...sender };
}

function toResult(
  decoded: DecodedTask['decoded'],
  inserted: InsertResult | Error | undefined,
): IngestResult {
  if (decoded.kind === 'lookup_failed') return toFailure(decoded.error);
  if (decoded.kind === 'rejected') {
    const { kind, code, message } = decoded;
    return { kind, code, message };
  }
  if (decoded.kind !== 'read') return { kind: decoded.kind, message: decoded.message };
  if (inserted === undefined) return { kind: 'failed', message: 'the span writer gave no result' };
  if (isError(inserted)) return toFailure(inserted);
  const { spans, logEntries } = decoded.rows;
  const hasText = spans.some((span) => (span.inputMessages ?? span.outputMessages) !== undefined);
  return { kind: 'stored', result: inserted, logEntries: logEntries.length, hasText };
}

function toFailure(error: unknown): Extract<IngestResult, { kind: 'database_failed' | 'failed' }> {
  const problem = findDatabaseProblem(error);
  if (problem) return { kind: 'database_failed', problem };
  return { kind: 'failed', message: describeOrigin(error) };
}
