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
import { findDatabaseProblem } from '../domain/errors.ts';
import type { SpanWriter } from '../store/span-writer.ts';
import type { InsertResult, TraceRequestRows } from '../store/store.ts';
import type { Decoded } from './decode-body.ts';
import { isError } from '../../platform/error-origin.ts';
import {
  describeOrigin,
  type CloseMessage,
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
  decode: (task: IngestTask, traces: TraceLookup) => Decoded;
}

type TraceLookup = Pick<SpanWriter, 'findConversations'>;

/** Requests in one transaction. */
const BATCH_REQUESTS_MAX = 64;

/** Decompressed bytes in one transaction, which are in memory together; the last request may exceed it. */
const BATCH_BYTES_MAX = 16_777_216;

/** Processes tasks until it receives a close message. Sends an empty list of results when ready. */
export function processTasks(deps: BatchDeps): void {
  const { port, spanWriter } = deps;
  const close = (): void => {
    spanWriter.close();
    port.close();
  };
  port.on('message', (first: TaskMessage | CloseMessage) => {
    if (first === 'close') {
      close();
      return;
    }
    const { batch, isClosing } = collectBatch(deps, first);
    writeAndReply(deps, batch);
    if (isClosing) close();
  });
  port.postMessage([] satisfies ResultMessage[]);
}

interface DecodedTask {
  id: number;
  task: IngestTask;
  decoded: Decoded;
}

function collectBatch(
  deps: BatchDeps,
  first: TaskMessage,
): { batch: DecodedTask[]; isClosing: boolean } {
  const batch: DecodedTask[] = [];
  const traces: TraceLookup = {
    findConversations(ownerId, traceIds) {
      if (hasTrace(batch, ownerId, traceIds)) {
        writeAndReply(deps, batch);
        batch.length = 0;
      }
      return deps.spanWriter.findConversations(ownerId, traceIds);
    },
  };
  let bytes = 0;
  let next: TaskMessage | CloseMessage | undefined = first;
  while (next !== undefined && next !== 'close') {
    const decodedTask: DecodedTask = { ...next, decoded: decodeOrFail(deps, next.task, traces) };
    if (batch.length === 0) bytes = 0;
    batch.push(decodedTask);
    bytes += decodedTask.decoded.bytes;
    if (batch.length === BATCH_REQUESTS_MAX || bytes >= BATCH_BYTES_MAX) break;
    next = receiveWaiting(deps.port);
  }
  return { batch, isClosing: next === 'close' };
}

function hasTrace(
  batch: readonly DecodedTask[],
  ownerId: string,
  traceIds: readonly string[],
): boolean {
  const wanted = new Set(traceIds);
  return batch.some(
    ({ task, decoded }) =>
      task.ownerId === ownerId &&
      decoded.kind === 'read' &&
      decoded.rows.spans.some(({ traceId }) => wanted.has(traceId)),
  );
}

/** Returns the next message if one has already arrived. */
function receiveWaiting(port: MessagePort): TaskMessage | CloseMessage | undefined {
  const received = receiveMessageOnPort(port);
  return (received as { message: TaskMessage | CloseMessage } | undefined)?.message;
}

function decodeOrFail({ decode }: BatchDeps, task: IngestTask, traces: TraceLookup): Decoded {
  const bytes = task.body.byteLength;
  try {
    return decode(task, traces);
  } catch (error) {
    return { kind: 'failed', message: describeOrigin(error), bytes };
  }
}

function writeAndReply({ port, spanWriter }: BatchDeps, batch: readonly DecodedTask[]): void {
  const inserted = spanWriter.insert(batch.map(({ task, decoded }) => toRows(task, decoded)));
  const results: ResultMessage[] = batch.map(({ id, decoded }, index) => {
    return { id, result: toResult(decoded, inserted[index]) };
  });
  port.postMessage(results);
}

/** Returns the rows to insert; for a rejected request, the log entries that say why. */
function toRows({ ownerId, receivedAtMs }: IngestTask, decoded: Decoded): TraceRequestRows {
  if (decoded.kind === 'read') return decoded.rows;
  const logEntries = decoded.kind === 'rejected' ? decoded.logEntries : [];
  return { ownerId, receivedAtMs, spans: [], tags: [], links: [], logEntries };
}

function toResult(decoded: Decoded, inserted: InsertResult | Error | undefined): IngestResult {
  if (decoded.kind === 'rejected') {
    const { kind, code, message } = decoded;
    return { kind, code, message };
  }
  if (decoded.kind !== 'read') return { kind: decoded.kind, message: decoded.message };
  if (inserted === undefined) return { kind: 'failed', message: 'the span writer gave no result' };
  if (isError(inserted)) {
    const problem = findDatabaseProblem(inserted);
    if (problem) return { kind: problem.kind, message: problem.code };
    return { kind: 'failed', message: describeOrigin(inserted) };
  }
  return { kind: 'stored', result: inserted, logEntries: decoded.rows.logEntries.length };
}
