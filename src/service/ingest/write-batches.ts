import { receiveMessageOnPort, type MessagePort } from 'node:worker_threads';
import { diskErrorCode } from '../domain/errors.ts';
import type { SpanWriter } from '../store/span-writer.ts';
import type { InsertResult, TraceRequestRows } from '../store/store.ts';
import type { Decoded } from './decode-body.ts';
import {
  describeOrigin,
  type ResultMessage,
  type CloseMessage,
  type TaskMessage,
  type IngestResult,
  type IngestTask,
} from './thread-messages.ts';

/** What the thread works with. */
export interface BatchDeps {
  port: MessagePort;
  spanWriter: SpanWriter;
  /** Anything it throws is a bug, and fails that request alone. */
  decode: (job: IngestTask, stored: Lookup) => Decoded;
}

type Lookup = Pick<SpanWriter, 'findConversations'>;

/** Requests in a transaction at most. */
const requestsOfGroupMax = 64;

/** Inflated bytes in a transaction, but for the last request: it holds them all at once. */
const bytesOfGroupMax = 16_777_216;

/**
 * Answers jobs in groups: whatever came while the last group was written is the next one, and is
 * made durable by one commit. A lone request waits for nobody. Answers the first time, with none,
 * when it is ready.
 */
export function writeBatches(deps: BatchDeps): void {
  const { port, spanWriter } = deps;
  const end = (): void => {
    spanWriter.close();
    port.close();
  };
  port.on('message', (first: TaskMessage | CloseMessage) => {
    if (first === 'close') {
      end();
      return;
    }
    const { group, closing } = gather(deps, first);
    answer(deps, group);
    if (closing) end();
  });
  port.postMessage([] satisfies ResultMessage[]);
}

interface Read {
  id: number;
  job: IngestTask;
  decoded: Decoded;
}

function gather(deps: BatchDeps, first: TaskMessage): { group: Read[]; closing: boolean } {
  const group: Read[] = [];
  // A trace that one of the group brings is stored before it is looked up, so that each request
  // finds what it would have found by coming alone. That is rare, and costs a commit.
  const stored: Lookup = {
    findConversations(ownerId, traceIds) {
      if (bringsAny(group, ownerId, traceIds)) {
        answer(deps, group);
        group.length = 0;
      }
      return deps.spanWriter.findConversations(ownerId, traceIds);
    },
  };
  let bytes = 0;
  let next: TaskMessage | CloseMessage | undefined = first;
  while (next !== undefined && next !== 'close') {
    const read: Read = { ...next, decoded: decodeOrFail(deps, next.job, stored) };
    if (group.length === 0) bytes = 0;
    group.push(read);
    bytes += read.decoded.bytes;
    if (group.length === requestsOfGroupMax || bytes >= bytesOfGroupMax) break;
    next = waiting(deps.port);
  }
  return { group, closing: next === 'close' };
}

function bringsAny(group: readonly Read[], ownerId: string, traceIds: readonly string[]): boolean {
  const wanted = new Set(traceIds);
  return group.some(
    ({ job, decoded }) =>
      job.ownerId === ownerId &&
      decoded.kind === 'read' &&
      decoded.toKeep.spans.some(({ traceId }) => wanted.has(traceId)),
  );
}

function answer({ port, spanWriter }: BatchDeps, group: readonly Read[]): void {
  port.postMessage(write(spanWriter, group));
}

function waiting(port: MessagePort): TaskMessage | CloseMessage | undefined {
  return (receiveMessageOnPort(port) as { message: TaskMessage | CloseMessage } | undefined)
    ?.message;
}

function decodeOrFail({ decode }: BatchDeps, job: IngestTask, stored: Lookup): Decoded {
  const bytes = job.body.byteLength;
  try {
    return decode(job, stored);
  } catch (error) {
    return { kind: 'failed', message: describeOrigin(error), bytes };
  }
}

/** One transaction for the whole group; a request that cannot be kept fails alone. */
function write(sink: SpanWriter, group: readonly Read[]): ResultMessage[] {
  const kept = sink.insert(group.map(({ job, decoded }) => toKeep(job, decoded)));
  return group.map(({ id, decoded }, nth) => ({ id, result: toResult(decoded, kept[nth]) }));
}

/** Of a refused request, its notes stay: they say why nothing appears. */
function toKeep({ ownerId, receivedAtMs }: IngestTask, decoded: Decoded): TraceRequestRows {
  if (decoded.kind === 'read') return decoded.toKeep;
  const logEntries = decoded.kind === 'refused' ? decoded.logEntries : [];
  return { ownerId, receivedAtMs, spans: [], tags: [], logEntries };
}

function toResult(decoded: Decoded, kept: InsertResult | Error | undefined): IngestResult {
  if (decoded.kind === 'refused') {
    const { kind, code, message } = decoded;
    return { kind, code, message };
  }
  if (decoded.kind !== 'read') return { kind: decoded.kind, message: decoded.message };
  if (kept === undefined) return { kind: 'failed', message: 'the sink gave no result' };
  if (kept instanceof Error) {
    const fault = diskErrorCode(kept);
    if (fault !== undefined) return { kind: 'unwritable', message: fault };
    return { kind: 'failed', message: describeOrigin(kept) };
  }
  return { kind: 'kept', kept, notes: decoded.toKeep.logEntries.length };
}
