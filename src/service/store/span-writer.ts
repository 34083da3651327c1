import type { ConnectionCounts } from './connections.ts';
import type { IngestLogEntry, InsertResult, NewSpan, TraceRequestRows } from './store.ts';

/** Writes the rows of trace requests. */
export interface SpanWriter {
  /**
   * Inserts several requests, with few transactions for all of them. What it returns for a request is
   * durable: its result, or an error if the request could not be inserted.
   */
  insert(requests: readonly TraceRequestRows[]): Promise<(InsertResult | Error)[]>;
  /** Returns the conversations of traces that are already stored, by trace id. */
  findConversations(ownerId: string, traceIds: readonly string[]): Promise<Map<string, string>>;
  /** Counts its connections to a database, and who waits for one; undefined for a file. */
  countConnections(): ConnectionCounts | undefined;
  close(): Promise<void>;
}

/** Tags stored for each conversation. A limit keeps clients from storing message text as tags. */
export const TAGS_PER_CONVERSATION_MAX = 256;

/** Ids of ignored spans that are stored. Old ones are useless: their turns have been built. */
export const LINKS_MAX = 500_000;

/** The largest time that is stored; a wrong client clock can exceed it. */
const NS_MAX = 2n ** 63n - 1n;

/** Returns the first start and the last end. A span without a time counts as the time of receipt. */
export function findBounds(
  spans: readonly Pick<NewSpan, 'startNs' | 'endNs'>[],
  receivedAtMs: number,
): [bigint, bigint] {
  const receivedNs = BigInt(receivedAtMs) * 1_000_000n;
  let first = NS_MAX;
  let last = 0n;
  for (const { startNs, endNs } of spans) {
    const start = startNs > 0n ? clampNs(startNs) : receivedNs;
    const end = endNs > start ? clampNs(endNs) : start;
    if (start < first) first = start;
    if (end > last) last = end;
  }
  return [first, last];
}

const DAY_MS = 86_400_000;

/** Returns the number of days from the Unix epoch to a time. */
export const toDay = (ms: number): number => Math.floor(ms / DAY_MS);

/** Cuts a time that is negative or too large. */
export function clampNs(ns: bigint): bigint {
  if (ns < 0n) return 0n;
  return ns < NS_MAX ? ns : NS_MAX;
}

/** Collects one log entry per code, about the first affected conversation, with a total count. */
export class LogEntryCollector {
  readonly #byCode = new Map<
    keyof typeof logMessages,
    IngestLogEntry['about'] & { count: number }
  >();

  add(
    code: keyof typeof logMessages,
    conversationId: string,
    count: number,
    details: IngestLogEntry['about'] = {},
  ): void {
    if (count === 0) return;
    const known = this.#byCode.get(code) ?? {
      conversation_id: conversationId,
      ...details,
      count: 0,
    };
    this.#byCode.set(code, { ...known, count: known.count + count });
  }

  entries(): IngestLogEntry[] {
    return Array.from(this.#byCode, ([code, about]) => ({ ...logMessages[code], code, about }));
  }
}

/** Messages about what only the stored data shows. The others are in `ingest/log-entries.ts`. */
const logMessages = {
  late_spans: {
    level: 'warn',
    message:
      'Stored but not scored: spans that were received after their conversation was closed. Flush ' +
      'the exporter before you end a conversation.',
  },
  removed_conversation: {
    level: 'warn',
    message:
      'Dropped: spans of a conversation whose spans were removed because of their age. Use a new id ' +
      'for each conversation.',
  },
  repeated_spans: {
    level: 'info',
    message:
      'Ignored: spans that were received before, for example because a request was sent again.',
  },
  span_id_taken: {
    level: 'warn',
    message:
      'Dropped: spans whose ids were received before in another trace or conversation. Generate a ' +
      'new random id for each span.',
  },
  tags_left_out: {
    level: 'warn',
    message:
      `Dropped: tags beyond the limit of ${TAGS_PER_CONVERSATION_MAX} per conversation. Don't export ` +
      'attributes whose values differ from span to span.',
  },
} as const satisfies Record<string, Pick<IngestLogEntry, 'level' | 'message'>>;
