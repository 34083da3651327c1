import { gunzipSync } from 'node:zlib';
import { INGEST_BODY_BYTES_MAX } from '../../contract/index.ts';
import { systemClock } from '../../platform/clock.ts';
import type { ServiceErrorCode } from '../domain/errors.ts';
import { decodeBody } from './decode-body.ts';
import type { IngestLogEntry, NewSpan, SpanLink } from '../store/store.ts';
import { describeTurnLosses, findTurnLosses } from '../turns/turn-losses.ts';
import { buildTurns, type Turn } from '../turns/turns.ts';

/** How ingest would process a trace request. */
export interface TraceDiagnosis {
  /** The error if the whole request would be rejected. */
  refused: { code: string; message: string } | undefined;
  /** Spans that would be stored. */
  spans: number;
  conversations: { conversationId: string; spans: number; turns: number; failedTurns: number }[];
  /**
   * Entries of the ingest log, about the request and then about the turns in it. If no span would be
   * stored, their level is at least `warn`.
   */
  notes: readonly IngestLogEntry[];
}

/** Options for linting a trace request. */
export interface LintOptions {
  /** The `X-Conversation-Id` header that the exporter would send. */
  conversationId?: string | undefined;
}

/**
 * Processes a trace export request as ingest does, but stores nothing. Detects JSON or protobuf, and
 * gzip, from the first bytes.
 */
export function lintTraces(bytes: Uint8Array, options: LintOptions): TraceDiagnosis {
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const start = isGzip ? decompressStart(bytes) : bytes.subarray(0, 64);
  const isJson = /^\s*[[{"]/.test(new TextDecoder().decode(start).replace(/^\uFEFF/, ''));
  const readAs = (contentType: Format['contentType']): TraceDiagnosis =>
    diagnose(bytes, { ...options, contentType, isGzip });
  if (!isJson) {
    const diagnosis = readAs('protobuf');
    return diagnosis.refused ? explainUnknownFormat(diagnosis, start) : diagnosis;
  }
  const asJson = readAs('json');
  // Protobuf can look like JSON: its first tag is a line feed, and the length can be a brace.
  if (start[0] !== 0x0a || !asJson.refused) return asJson;
  const asProtobuf = readAs('protobuf');
  return asProtobuf.refused?.code === 'malformed_body' ? asJson : asProtobuf;
}

/** Replaces the protobuf error for a text that is neither format, such as YAML. */
function explainUnknownFormat(diagnosis: TraceDiagnosis, start: Uint8Array): TraceDiagnosis {
  const isText = /^[\t\n\r\x20-\x7e]+$/.test(new TextDecoder().decode(start));
  if (!isText || diagnosis.refused?.code !== 'malformed_body') return diagnosis;
  const message =
    'This is a text file, but not JSON. Pass an OTLP trace request as JSON or protobuf.';
  return { ...diagnosis, refused: { ...diagnosis.refused, message } };
}

interface Format extends LintOptions {
  contentType: 'json' | 'protobuf';
  isGzip: boolean;
}

function diagnose(bytes: Uint8Array, format: Format): TraceDiagnosis {
  const { contentType, isGzip, conversationId } = format;
  const decoded = decodeBody(
    {
      ownerId: 'lint',
      receivedAtMs: systemClock.nowMs(),
      contentType,
      gzip: isGzip,
      body: new Uint8Array(bytes).buffer,
      ...(conversationId === undefined ? {} : { headerConversationId: conversationId }),
    },
    { findConversations: () => new Map() },
  );
  if (decoded.kind === 'read') {
    const { spans, links, logEntries } = decoded.rows;
    const conversations = readConversations(spans, links);
    const losses = conversations.flatMap(({ conversationId, turns }) =>
      describeTurnLosses(conversationId, findTurnLosses(turns)),
    );
    return {
      refused: undefined,
      spans: spans.length,
      conversations: conversations.map(summarizeConversation),
      notes: spans.length === 0 ? logEntries.map(raiseLevel) : [...logEntries, ...losses],
    };
  }
  const code = decoded.kind === 'rejected' ? decoded.code : ERROR_CODES[decoded.kind];
  const notes = decoded.kind === 'rejected' ? decoded.logEntries : [];
  return { refused: { code, message: decoded.message }, spans: 0, conversations: [], notes };
}

/** Raises `info` to `warn`: if no span would be stored, these entries are the cause. */
const raiseLevel = (entry: IngestLogEntry): IngestLogEntry =>
  entry.level === 'info' ? { ...entry, level: 'warn' } : entry;

/** The error codes that ingest responds with. */
const ERROR_CODES = {
  malformed: 'malformed_body',
  too_large: 'too_large',
  failed: 'failed',
} as const satisfies Record<string, ServiceErrorCode>;

function decompressStart(bytes: Uint8Array): Uint8Array {
  try {
    return gunzipSync(bytes, { maxOutputLength: INGEST_BODY_BYTES_MAX }).subarray(0, 64);
  } catch {
    // Decoding reports the error.
    return new Uint8Array();
  }
}

/** A conversation of a request. */
interface ReadConversation {
  conversationId: string;
  spans: number;
  turns: Turn[];
}

function readConversations(
  spans: readonly NewSpan[],
  links: readonly SpanLink[],
): ReadConversation[] {
  const byId = Map.groupBy(spans, ({ conversationId }) => conversationId);
  return Array.from(byId, ([conversationId, conversationSpans]) => ({
    conversationId,
    spans: conversationSpans.length,
    turns: buildTurns(
      conversationSpans.map((span) => ({ ...span, receivedAtMs: 0, late: false })),
      links,
    ),
  }));
}

function summarizeConversation({
  turns,
  ...conversation
}: ReadConversation): TraceDiagnosis['conversations'][number] {
  const failedTurns = turns.filter(({ failed }) => failed).length;
  return { ...conversation, turns: turns.length, failedTurns };
}
