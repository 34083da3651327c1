import { gunzipSync } from 'node:zlib';
import { ingestBodyBytesMax } from '../../contract/index.ts';
import { systemClock } from '../../platform/clock.ts';
import type { ServiceErrorCode } from '../domain/errors.ts';
import { decodeBody } from './decode-body.ts';
import type { IngestLogEntry, NewSpan } from '../store/store.ts';
import { buildTurns } from '../turns/turns.ts';

/** What ingest would make of a trace request. */
export interface TraceDiagnosis {
  /** Why the whole request would be refused, and with which code; undefined when it would not. */
  refused: { code: string; message: string } | undefined;
  /** Spans that would be kept. */
  spans: number;
  conversations: { conversationId: string; spans: number; turns: number; failedTurns: number }[];
  /** Where nothing would be kept, none of them is of level info. */
  notes: readonly IngestLogEntry[];
}

/** What goes along with the bytes. */
export interface LintOptions {
  /** What the exporter would send as `X-Conversation-Id`. */
  conversationId?: string | undefined;
}

/**
 * Reads a trace export request as ingest does, without keeping anything: JSON or protobuf, gzip or
 * not, as its first bytes say.
 */
export function lintTraces(bytes: Uint8Array, options: LintOptions): TraceDiagnosis {
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const start = isGzip ? inflatedStart(bytes) : bytes.subarray(0, 64);
  const isJson = /^\s*[[{"]/.test(new TextDecoder().decode(start).replace(/^\uFEFF/, ''));
  const read = (contentType: Reading['contentType']): TraceDiagnosis =>
    diagnosisOf(bytes, { ...options, contentType, isGzip });
  if (!isJson) {
    const diagnosis = read('protobuf');
    return diagnosis.refused ? orNeither(diagnosis, start) : diagnosis;
  }
  const diagnosis = read('json');
  // The tag of its first field is a line feed, and the length after it may be that of a brace.
  if (start[0] !== 0x0a || !diagnosis.refused) return diagnosis;
  const other = read('protobuf');
  return other.refused?.code === 'malformed_body' ? diagnosis : other;
}

/** A text that is neither, such as YAML, is not told about the bytes of protobuf alone. */
function orNeither(diagnosis: TraceDiagnosis, start: Uint8Array): TraceDiagnosis {
  const isText = /^[\t\n\r\x20-\x7e]+$/.test(new TextDecoder().decode(start));
  if (!isText || diagnosis.refused?.code !== 'malformed_body') return diagnosis;
  const message = 'this is neither JSON, which begins with {, nor protobuf, which is no text';
  return { ...diagnosis, refused: { ...diagnosis.refused, message } };
}

interface Reading extends LintOptions {
  contentType: 'json' | 'protobuf';
  isGzip: boolean;
}

function diagnosisOf(bytes: Uint8Array, reading: Reading): TraceDiagnosis {
  const { contentType, isGzip, conversationId } = reading;
  const decoded = decodeBody(
    {
      ownerId: 'nobody',
      receivedAtMs: systemClock.nowMs(),
      contentType,
      gzip: isGzip,
      body: new Uint8Array(bytes).buffer,
      ...(conversationId === undefined ? {} : { headerConversationId: conversationId }),
    },
    { findConversations: () => new Map() },
  );
  if (decoded.kind === 'read') {
    const { spans, logEntries } = decoded.toKeep;
    return {
      refused: undefined,
      spans: spans.length,
      conversations: conversationsOf(spans),
      notes: spans.length === 0 ? logEntries.map(asCause) : logEntries,
    };
  }
  const code = decoded.kind === 'refused' ? decoded.code : errorCodes[decoded.kind];
  const notes = decoded.kind === 'refused' ? decoded.logEntries : [];
  return { refused: { code, message: decoded.message }, spans: 0, conversations: [], notes };
}

/** What is worth a word among spans that are kept is the cause where none is. */
const asCause = (note: IngestLogEntry): IngestLogEntry =>
  note.level === 'info' ? { ...note, level: 'warn' } : note;

/** What ingest answers with, of the error table. */
const errorCodes = {
  malformed: 'malformed_body',
  too_large: 'too_large',
  failed: 'failed',
} as const satisfies Record<string, ServiceErrorCode>;

function inflatedStart(bytes: Uint8Array): Uint8Array {
  try {
    return gunzipSync(bytes, { maxOutputLength: ingestBodyBytesMax }).subarray(0, 64);
  } catch {
    // Ingest says what is wrong with it.
    return new Uint8Array();
  }
}

function conversationsOf(spans: readonly NewSpan[]): TraceDiagnosis['conversations'] {
  const byId = Map.groupBy(spans, ({ conversationId }) => conversationId);
  return [...byId].map(([conversationId, own]) => {
    const turns = buildTurns(own.map((span) => ({ ...span, receivedAtMs: 0, late: false })));
    return {
      conversationId,
      spans: own.length,
      turns: turns.length,
      failedTurns: turns.filter(({ failed }) => failed).length,
    };
  });
}
