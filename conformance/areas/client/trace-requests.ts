/** Trace requests: their headers, size, and format, and the conversation that they name (spec 4.1). */
import { gzipSync } from 'node:zlib';
import { CONVERSATION_ID_KEY, INGEST_BODY_BYTES_MAX } from '../../../src/contract/index.ts';
import { changeRequest } from '../../engine/mutants/combinators.ts';
import type { TransformFactory } from '../../engine/mutants/mutant.ts';
import { type Subject, withDefaults } from '../../engine/requirement.ts';
import { requestBytesOf } from '../../engine/transcript/body-length.ts';
import {
  type Exchange,
  isAccepted,
  toPrintable,
  type Transcript,
} from '../../engine/transcript/reading.ts';
import { hasSpans, lostSpansOf } from './attempts.ts';
import { spansIn } from '../service/spans.ts';
import { checkRequests, type Fault, listSome, NO_TRACES, notObserved } from './checks.ts';
import { findCut, isCut } from './cut-bodies.ts';
import { findOtherKeys } from './empty-traces.ts';
import { secondBatch } from './reference.ts';
import {
  conversationSpansOf,
  encodingOf,
  formatOf,
  hasConversation,
  isTraces,
  readTraces,
} from './sent-traces.ts';
import {
  changeBody,
  dropAttribute,
  editAttributes,
  editSpans,
  setHeaders,
  withHeaders,
  withSpans,
} from './transforms.ts';

const NO_BODY = notObserved(
  'No trace request has a recorded body with a Content-Type and a Content-Encoding that the interface defines.',
);

const MEGABYTES_11 = 11 * 1024 * 1024;
const MEGABYTES_3 = 3 * 1024 * 1024;

export const traceRequests: Subject = {
  requirements: withDefaults(
    { reason: 'The service refuses the request, and its spans are lost.' },
    {
      'CLIENT-010': {
        rule: '`Content-Type` of a trace request is `application/json` or `application/x-protobuf`.',
        statements: ['4.1.3', '7.a7'],
        check: checkRequests(isTraces, NO_TRACES, (exchange) => {
          const type = exchange.request.headers['content-type'];
          return formatOf(exchange)
            ? undefined
            : {
                expected: 'application/json or application/x-protobuf',
                received: type === undefined ? 'no Content-Type' : toPrintable(type),
                hint: /protobuf/i.test(type ?? '')
                  ? 'Write it with x-: application/x-protobuf.'
                  : undefined,
              };
        }),
        mutants: {
          'text-plain': {
            description: 'Sends a batch as text/plain.',
            transform: setHeaders(secondBatch, { 'content-type': 'text/plain' }),
          },
        },
      },
      'CLIENT-011': {
        rule: '`Content-Encoding` of a trace request is `gzip` or absent.',
        statements: ['4.1.4'],
        check: checkRequests(isTraces, NO_TRACES, (exchange) => {
          const encoding = encodingOf(exchange);
          return ['gzip', 'x-gzip', 'identity'].includes(encoding)
            ? undefined
            : { expected: 'gzip, or no Content-Encoding', received: toPrintable(encoding) };
        }),
        mutants: {
          brotli: {
            description: 'Declares a content encoding that the service does not support.',
            transform: setHeaders(secondBatch, { 'content-encoding': 'br' }),
          },
        },
        legal: {
          'gzip-json': {
            description: 'Compresses a batch of OTLP/JSON, and writes its headers in another case.',
            transform: changeRequest(secondBatch, (request) => ({
              ...withHeaders(request, {
                'content-type': 'Application/JSON; charset=utf-8',
                'content-encoding': 'GZIP',
              }),
              bytes: gzipSync(request.body),
            })),
          },
        },
      },
      'CLIENT-012': {
        rule: 'The body of a trace request is an OTLP trace export request in the format that `Content-Type` names.',
        section: '4.1',
        statements: ['1.7', '2.1.r3c', '2.1.r3d', '4.1.7'],
        reason: 'The service refuses the request, or finds no spans in it.',
        check: checkRequests(
          (exchange) =>
            isTraces(exchange) && (isCut(exchange) || readTraces(exchange).kind !== 'unknown'),
          (transcript) => (transcript.exchanges.some(isTraces) ? NO_BODY : NO_TRACES)(transcript),
          (exchange, transcript) => findCut(exchange, transcript) ?? findFormatFault(exchange),
        ),
        mutants: {
          'not-otlp': {
            description: 'Sends JSON that is not a trace export request.',
            transform: changeBody(secondBatch, () => '{"resourceSpans":{"spans":[]}}'),
          },
          'snake-case': {
            description: 'Sends OTLP/JSON with keys in snake_case.',
            transform: changeBody(secondBatch, (body) =>
              body.replaceAll('resourceSpans', 'resource_spans'),
            ),
          },
          'latin-1': {
            description: 'Sends JSON in ISO 8859-1.',
            transform: changeRequest(secondBatch, (request) => {
              const body = request.body.replace('parcel', 'péage');
              return { ...request, body, bytes: Buffer.from(body, 'latin1') };
            }),
          },
          'protobuf-as-json': {
            description: 'Sends JSON and declares protobuf.',
            transform: setHeaders(secondBatch, { 'content-type': 'application/x-protobuf' }),
          },
        },
      },
      'CLIENT-013': {
        rule: 'A trace request is at most 10 MB.',
        section: '8',
        statements: ['7.a5', '8.a1'],
        check: checkRequests(isTraces, NO_TRACES, findSizeFault),
        mutants: {
          'large-batch': {
            description: 'Sends a batch of 11 MB.',
            transform: editSpans(([span]) => {
              if (span) span.name = 'x'.repeat(MEGABYTES_11);
            }),
          },
        },
        legal: {
          'splits-large-batch': {
            description: 'Sends a batch of 12 MB, and two halves of it after the 413.',
            transform: splitAfter413,
          },
        },
      },
      'CLIENT-014': {
        rule: 'A trace request with spans of a conversation has `gen_ai.conversation.id` on a span, or the header `X-Conversation-Id`.',
        section: '7',
        statements: ['2.1.3', '4.1.5', '4.1.6', '7.a1'],
        check: checkRequests(
          (exchange) => conversationSpansOf(exchange).length > 0,
          notObserved('No span has gen_ai.operation.name.'),
          (exchange) => {
            const sent = conversationSpansOf(exchange);
            // CLIENT-016 reports an id of another form.
            if (sent.some(({ attributes }) => CONVERSATION_ID_KEY in attributes)) return undefined;
            if (hasConversation(exchange)) return undefined;
            const isOnResource = sent.some(({ resource }) => CONVERSATION_ID_KEY in resource);
            return {
              expected: 'gen_ai.conversation.id on a span, or the header X-Conversation-Id',
              received: isOnResource ? 'the id only on the resource' : 'neither',
              hint: suggestHeader(exchange),
            };
          },
        ),
        mutants: {
          'no-conversation': {
            description: 'Sends a batch without any conversation id.',
            transform: dropAttribute('gen_ai.conversation.id'),
          },
        },
        legal: {
          'no-genai-spans': {
            description: 'Sends a batch where no span is part of a conversation.',
            transform: editAttributes((attributes) =>
              attributes.filter(({ key }) => !key.startsWith('gen_ai.')),
            ),
          },
          'no-spans': {
            description: 'Sends a trace request without spans.',
            transform: changeBody(secondBatch, () => '{"resourceSpans":[]}'),
          },
        },
      },
    },
  ),
};

/** Makes the second batch too large, and sends it again in two halves. */
function splitAfter413(): ReturnType<TransformFactory> {
  return async (request, forward) => {
    if (!secondBatch(request)) return forward(request);
    const name = 'x'.repeat(MEGABYTES_3);
    const large = spansIn(request.json).map((span) => ({ ...span, name }));
    await forward(withSpans(request, large));
    await forward(withSpans(request, large.slice(0, 2)));
    return forward(withSpans(request, large.slice(2)));
  };
}

/** Advises on a request without a conversation id, by the name of a similar header. */
function suggestHeader({ request }: Exchange): string {
  const similar = Object.keys(request.headers).find((name) => /conversation/i.test(name));
  return similar === undefined
    ? 'Set the attribute on the spans, or add the header to the exporter.'
    : `The header is X-Conversation-Id, not ${toPrintable(similar, 40)}.`;
}

function findFormatFault(exchange: Exchange): Fault | undefined {
  const traces = readTraces(exchange);
  const expected = `an OTLP trace export request as ${formatOf(exchange) ?? ''}`;
  if (traces.kind === 'unreadable') {
    return { expected, received: traces.problem, hint: traces.cure };
  }
  if (traces.kind === 'unknown') return undefined;
  if (traces.ignoredKeys.length > 0) {
    return {
      expected: 'keys in lowerCamelCase',
      received: listSome(traces.ignoredKeys),
      hint: 'The service ignores these keys, because OTLP/JSON uses lowerCamelCase.',
    };
  }
  const place = findOtherKeys(exchange);
  return place === undefined
    ? undefined
    : {
        expected: 'spans in resourceSpans[].scopeSpans[].spans[]',
        received: place,
        hint: 'The service accepts the request, and finds no spans in it. Use the names of OTLP 1.0 or later.',
      };
}

function findSizeFault(exchange: Exchange, transcript: Transcript): Fault | undefined {
  const { request, response } = exchange;
  const bytes = request.bodyBytes ?? 0;
  const isRefused = response?.status === 413;
  if (!isRefused && bytes <= INGEST_BODY_BYTES_MAX) return undefined;
  return {
    expected: `at most ${INGEST_BODY_BYTES_MAX} bytes`,
    received: bytes > 0 ? `${bytes} bytes` : 'more than 10 MB when decompressed',
    hint: 'Configure the exporter to send smaller batches.',
    // A client that then sends the spans in smaller requests loses nothing.
    isNote: isRefused && isSplit(exchange, transcript),
  };
}

/** Together, the requests with the parts of a batch are about as large as the batch. */
const SPLIT_SHARE_MIN = 0.9;

/** Returns whether later, smaller requests delivered a batch that was too large. */
function isSplit(refused: Exchange, transcript: Transcript): boolean {
  if (hasSpans(refused)) return lostSpansOf(refused, transcript).length === 0;
  const bytes = requestBytesOf(refused);
  const parts = transcript.exchanges.filter(
    (exchange) =>
      isTraces(exchange) &&
      isAccepted(exchange) &&
      // A client may read the 413 before the service has finished it.
      exchange.id > refused.id &&
      encodingOf(exchange) === encodingOf(refused) &&
      requestBytesOf(exchange) < bytes,
  );
  const total = parts.reduce((sum, part) => sum + requestBytesOf(part), 0);
  return total >= SPLIT_SHARE_MIN * bytes;
}
