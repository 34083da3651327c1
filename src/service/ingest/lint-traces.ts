import { gunzipSync } from 'node:zlib';
import { INGEST_BODY_BYTES_MAX, startsAsGzip } from '../../contract/index.ts';
import { isObject, parseJson } from '../../platform/json.ts';
import { formatList } from '../../report-kit/format.ts';
import { toPrintable } from '../../report-kit/printable.ts';
import { systemClock } from '../../platform/clock.ts';
import type { ServiceErrorCode } from '../requests/errors.ts';
import { decodeBody } from './decode-body.ts';
import type { IngestLogEntry, NewSpan, SpanLink } from '../store/store.ts';
import { describeTurnLosses, findTurnLosses } from '../turns/turn-losses.ts';
import type { TracedTurn } from '../turns/turn-types.ts';
import { buildTurns } from '../turns/turns.ts';

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
  const isGzip = startsAsGzip(bytes);
  const whole = isGzip ? decompress(bytes) : bytes;
  const start = whole?.subarray(0, 64) ?? new Uint8Array();
  const isJson = /^\s*[[{"]/.test(new TextDecoder().decode(start).replace(/^\uFEFF/, ''));
  const readAs = (contentType: Format['contentType']): TraceDiagnosis =>
    diagnose(bytes, { ...options, contentType, isGzip });
  if (!isJson || !whole) {
    if (whole && isEmptyText(whole)) return explainNoSpans(readAs('protobuf'), EMPTY_FILE);
    const diagnosis = readAs('protobuf');
    if (!diagnosis.refused) return diagnosis;
    // `null` and numbers are also JSON.
    return !whole || parseBytes(whole) === undefined
      ? explainUnknownFormat(diagnosis, start)
      : readAs('json');
  }
  const asJson = explainShape(readAs('json'), whole, isGzip);
  // Protobuf can look like JSON: its first tag is a line feed, and the length can be a brace.
  if (start[0] !== 0x0a || !asJson.refused) return asJson;
  const asProtobuf = readAs('protobuf');
  return asProtobuf.refused?.code === 'malformed_body' ? asJson : asProtobuf;
}

const WHAT_TO_PASS = 'Pass an OTLP trace request as JSON or protobuf.';

const EMPTY_FILE = `The file is empty. ${WHAT_TO_PASS} Without such a file, run sandbox-kit serve and send the traces to it: its ingest log explains them in the same way.`;

/** Explains JSON that is read but has no `resourceSpans`, and files with one JSON document per line. */
function explainShape(
  diagnosis: TraceDiagnosis,
  json: Uint8Array,
  isGzip: boolean,
): TraceDiagnosis {
  const { refused, spans } = diagnosis;
  if (refused?.code === 'malformed_body' && hasJsonLines(json)) {
    const read = isGzip ? 'gzip -dc FILE | head -n 1' : 'head -n 1 FILE';
    const message = `This file has one JSON document per line. Lint one line at a time, for example: ${read} | sandbox-kit lint-traces -`;
    return { ...diagnosis, refused: { ...refused, message } };
  }
  const request = refused || spans > 0 ? undefined : parseBytes(json);
  if (!isObject(request) || 'resourceSpans' in request) return diagnosis;
  const fields = Object.keys(request);
  if (fields.length === 0) return diagnosis;
  const names = fields.map((name) => toPrintable(name.slice(0, FIELD_LENGTH_MAX)));
  const list = formatList(names, FIELDS_MAX);
  const noun = fields.length === 1 ? 'field' : 'fields';
  return explainNoSpans(diagnosis, `resourceSpans is missing; the file has the ${noun} ${list}.`);
}

/** The most fields to name, and their longest names. */
const FIELDS_MAX = 5;
const FIELD_LENGTH_MAX = 40;

/** Replaces the message about a request without spans. */
function explainNoSpans(diagnosis: TraceDiagnosis, message: string): TraceDiagnosis {
  const notes = diagnosis.notes.map((note) =>
    note.code === 'empty_request' ? { ...note, message } : note,
  );
  const empty = { spans: 0, conversations: [], refused: undefined };
  if (notes.length > 0) return { ...diagnosis, notes };
  return { ...empty, notes: [{ level: 'warn', code: 'empty_request', message, about: {} }] };
}

/** Returns whether each of the first two lines that are not empty is a JSON document. */
function hasJsonLines(bytes: Uint8Array): boolean {
  const text = new TextDecoder().decode(bytes);
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.length > 1 && lines.slice(0, 2).every((line) => isObject(parseJson(line)));
}

const isEmptyText = (bytes: Uint8Array): boolean => new TextDecoder().decode(bytes).trim() === '';

/** Parses JSON; undefined if the bytes are not JSON. */
const parseBytes = (bytes: Uint8Array): unknown => parseJson(new TextDecoder().decode(bytes));

/** Replaces the protobuf error for a text that is neither format, such as YAML. */
function explainUnknownFormat(diagnosis: TraceDiagnosis, start: Uint8Array): TraceDiagnosis {
  const isText = /^[\t\n\r\x20-\x7e]+$/.test(new TextDecoder().decode(start));
  if (!isText || diagnosis.refused?.code !== 'malformed_body') return diagnosis;
  const message = `This is a text file, but not JSON. ${WHAT_TO_PASS}`;
  return { ...diagnosis, refused: { ...diagnosis.refused, message } };
}

interface Format extends LintOptions {
  contentType: 'json' | 'protobuf';
  isGzip: boolean;
}

function diagnose(bytes: Uint8Array, format: Format): TraceDiagnosis {
  const { contentType, isGzip, conversationId } = format;
  const read = decodeBody({
    ownerId: 'lint',
    receivedAtMs: systemClock.nowMs(),
    contentType,
    gzip: isGzip,
    body: new Uint8Array(bytes).buffer,
    ...(conversationId === undefined ? {} : { headerConversationId: conversationId }),
  });
  const decoded = read({ findConversations: () => new Map() });
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
      notes: [...logEntries, ...losses],
    };
  }
  const code = decoded.kind === 'rejected' ? decoded.code : ERROR_CODES[decoded.kind];
  const notes = decoded.kind === 'rejected' ? decoded.logEntries : [];
  return { refused: { code, message: decoded.message }, spans: 0, conversations: [], notes };
}

/** The error codes that ingest responds with. */
const ERROR_CODES = {
  malformed: 'malformed_body',
  too_large: 'too_large',
  failed: 'failed',
} as const satisfies Record<string, ServiceErrorCode>;

function decompress(bytes: Uint8Array): Uint8Array | undefined {
  try {
    return gunzipSync(bytes, { maxOutputLength: INGEST_BODY_BYTES_MAX });
  } catch {
    // Decoding reports the error.
    return undefined;
  }
}

/** A conversation of a request. */
interface ReadConversation {
  conversationId: string;
  spans: number;
  turns: TracedTurn[];
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
