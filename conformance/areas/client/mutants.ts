import { SERVICE_API_KEY_HEADER } from '../../../src/contract/index.ts';
import { changeQuery, changeRequest, to, withBody } from '../../engine/mutants/combinators.ts';
import type { Mutant, ProxyRequest, TransformFactory } from '../../engine/mutants/mutant.ts';
import { queryParameter } from '../service/results-api.ts';
import { SPAN_CONVERSATION } from './reference.ts';
import {
  dropAttribute,
  editAttributes,
  editSpans,
  firstBatch,
  giveUp,
  isOperation,
  mutant,
  pagedRead,
  plainRead,
  retryImmediately,
  secondBatch,
  sendBefore,
  setAttribute,
  setTotal,
  storedResponse,
  withHeaders,
  withoutHeader,
} from './transforms.ts';

const end = to('end');
const endOfSpans = to('end', ({ path }) => path.includes(encodeURIComponent(SPAN_CONVERSATION)));
const traces = to('traces');
const production = to('production');

const requestMutants: readonly Mutant[] = [
  mutant(
    'no-key',
    'sends no key when it reads results',
    'CLIENT-001',
    changeRequest(production, (request) => withoutHeader(request, SERVICE_API_KEY_HEADER)),
  ),
  mutant(
    'bearer-key',
    'sends the key as a bearer token when it reads results',
    'CLIENT-001',
    changeRequest(production, (request) =>
      withHeaders(withoutHeader(request, SERVICE_API_KEY_HEADER), {
        authorization: `Bearer ${request.headers[SERVICE_API_KEY_HEADER] ?? ''}`,
      }),
    ),
  ),
  mutant(
    'wrong-key',
    'reads results with a key that the service does not know',
    'CLIENT-002',
    changeRequest(production, (request) =>
      withHeaders(request, { [SERVICE_API_KEY_HEADER]: 'a-key-of-another-service' }),
    ),
  ),
  mutant(
    'wrong-path',
    'sends traces to /v1/trace',
    'CLIENT-003',
    changeRequest(secondBatch, (request) => ({ ...request, path: '/v1/trace' })),
  ),
  mutant(
    'put-method',
    'ends a conversation with PUT',
    'CLIENT-003',
    changeRequest(end, (request) => ({ ...request, method: 'PUT' })),
  ),
  mutant(
    'no-slash',
    'omits the slash at the end of the results path',
    'CLIENT-004',
    changeRequest(production, (request) => ({
      ...request,
      path: request.path.replace('/sessions/', '/sessions'),
    })),
  ),
];

const MEGABYTES_11 = 11 * 1024 * 1024;

const traceMutants: readonly Mutant[] = [
  mutant(
    'text-plain',
    'sends a batch as text/plain',
    'CLIENT-010',
    changeRequest(secondBatch, (request) => withHeaders(request, { 'content-type': 'text/plain' })),
  ),
  mutant(
    'brotli',
    'declares a content encoding that the service does not support',
    'CLIENT-011',
    changeRequest(secondBatch, (request) => withHeaders(request, { 'content-encoding': 'br' })),
  ),
  mutant(
    'not-otlp',
    'sends JSON that is not a trace export request',
    'CLIENT-012',
    changeRequest(secondBatch, (request) => withBody(request, '{"resourceSpans":{"spans":[]}}')),
  ),
  mutant(
    'snake-case',
    'sends OTLP/JSON with keys in snake_case',
    'CLIENT-012',
    changeRequest(secondBatch, (request) =>
      withBody(request, request.body.replaceAll('resourceSpans', 'resource_spans')),
    ),
  ),
  mutant(
    'protobuf-as-json',
    'sends JSON and declares protobuf',
    'CLIENT-012',
    changeRequest(secondBatch, (request) =>
      withHeaders(request, { 'content-type': 'application/x-protobuf' }),
    ),
  ),
  mutant(
    'large-batch',
    'sends a batch of 11 MB',
    'CLIENT-013',
    editSpans(([span]) => {
      if (span) span.name = 'x'.repeat(MEGABYTES_11);
    }),
  ),
  mutant(
    'no-conversation',
    'sends a batch without any conversation id',
    'CLIENT-014',
    dropAttribute('gen_ai.conversation.id'),
  ),
  mutant(
    'id-on-root-only',
    'sets the conversation id on the root span only',
    'CLIENT-015',
    dropAttribute('gen_ai.conversation.id', (span) => span.parentSpanId !== undefined),
  ),
  mutant(
    'numeric-conversation',
    'sends the conversation id of a span as an integer',
    'CLIENT-016',
    editAttributes((attributes, span) =>
      isOperation('execute_tool')(span)
        ? attributes.map((attribute) =>
            attribute.key === 'gen_ai.conversation.id'
              ? { ...attribute, value: { intValue: '17' } }
              : attribute,
          )
        : attributes,
    ),
  ),
  mutant(
    'no-operation',
    'sends a span with messages but without an operation',
    'CLIENT-017',
    dropAttribute('gen_ai.operation.name', isOperation('chat')),
  ),
  mutant(
    'base64-ids',
    'sends the ids of spans as base64 in OTLP/JSON',
    'CLIENT-019',
    editSpans((spans) => {
      for (const span of spans) {
        span.traceId = Buffer.from(span.traceId, 'hex').toString('base64');
        span.spanId = Buffer.from(span.spanId, 'hex').toString('base64');
        delete span.parentSpanId;
      }
    }),
  ),
  mutant(
    'zero-span-id',
    'sends a span whose id is all zeros',
    'CLIENT-019',
    editSpans((spans) => {
      const last = spans.at(-1);
      if (last) last.spanId = '0'.repeat(16);
    }),
  ),
  mutant(
    'milliseconds',
    'sends times in milliseconds',
    'CLIENT-020',
    editSpans((spans) => {
      for (const span of spans) {
        span.startTimeUnixNano = span.startTimeUnixNano.slice(0, 13);
        span.endTimeUnixNano = span.endTimeUnixNano.slice(0, 13);
      }
    }),
  ),
  mutant(
    'times-as-numbers',
    'sends times as JSON numbers',
    'CLIENT-020',
    changeRequest(secondBatch, (request) =>
      withBody(request, request.body.replaceAll(/(TimeUnixNano":)"(\d+)"/g, '$1$2')),
    ),
  ),
  mutant(
    'messages-as-values',
    'sends messages as structured values instead of a string',
    'CLIENT-021',
    setAttribute('gen_ai.input.messages', {
      arrayValue: { values: [{ stringValue: 'Where is my parcel?' }] },
    }),
  ),
  mutant(
    'messages-without-parts',
    'sends messages with content instead of parts',
    'CLIENT-021',
    setAttribute('gen_ai.output.messages', {
      stringValue: '[{"role":"assistant","content":"It is on its way."}]',
    }),
  ),
  mutant(
    'messages-cut',
    'sends messages that an attribute limit cut off',
    'CLIENT-021',
    setAttribute('gen_ai.input.messages', { stringValue: '[{"role":"user","parts":[{"ty' }),
  ),
  mutant(
    'tokens-as-text',
    'sends token counts as strings',
    'CLIENT-022',
    setAttribute('gen_ai.usage.input_tokens', { stringValue: '12' }),
  ),
  mutant(
    'model-as-number',
    'sends the model as a number',
    'CLIENT-023',
    setAttribute('gen_ai.request.model', { intValue: '4' }),
  ),
  mutant(
    'reused-span-ids',
    'uses the same span ids in every trace',
    'CLIENT-024',
    editSpans((spans) => {
      for (const span of spans) span.spanId = span.spanId.replace(/^b2/, 'a1');
    }),
  ),
];

/** Gives the spans of the first batch new ids each time the client sends it. */
const renewIds: TransformFactory = () => {
  let count = 0;
  return (request, forward) => {
    if (!firstBatch(request)) return forward(request);
    count += 1;
    const renewed = request.body.replaceAll(/(spanId":"a1\d)0/gi, `$1${count}`);
    return forward(withBody(request, renewed));
  };
};

/** More than the limit of trace requests per minute. */
const BURST = 130;

const retryMutants: readonly Mutant[] = [
  mutant(
    'ignores-retry-after',
    'sends a batch again immediately after a 429',
    'CLIENT-030',
    retryImmediately(traces, 429),
  ),
  mutant('gives-up-on-429', 'drops a batch that got a 429', 'CLIENT-031', giveUp(traces, 429)),
  mutant('gives-up-on-503', 'drops a batch that got a 503', 'CLIENT-032', giveUp(traces, 503)),
  mutant(
    'ends-only-once',
    'does not repeat an end call that got a 503',
    'CLIENT-032',
    giveUp(end, 503),
  ),
  mutant(
    'hammers',
    'sends a batch again immediately after a 503',
    'CLIENT-033',
    retryImmediately(traces, 503),
  ),
  mutant('new-ids', 'gives spans new ids when it sends them again', 'CLIENT-034', renewIds),
  mutant(
    'retries-415',
    'sends a batch with a wrong content type twice',
    ['CLIENT-010', 'CLIENT-035'],
    () => async (request, forward) => {
      if (!secondBatch(request)) return forward(request);
      const wrong = withHeaders(request, { 'content-type': 'text/plain' });
      await forward(wrong);
      return forward(wrong);
    },
  ),
  mutant(
    'one-span-per-request',
    'sends more than 120 trace requests per minute',
    'CLIENT-036',
    sendBefore(production, async (request, forward) => {
      const empty = {
        ...withBody(request, '{"resourceSpans":[]}', { 'content-type': 'application/json' }),
        ...{ method: 'POST', path: '/v1/traces', endpoint: 'traces' as const },
      };
      for (let count = 0; count < BURST; count += 1) await forward(empty);
    }),
  ),
];

/** Delays the second batch until the conversation has ended. */
const endsTooEarly: TransformFactory = () => {
  let delayed: ProxyRequest | undefined;
  return async (request, forward) => {
    if (secondBatch(request)) {
      delayed = request;
      return storedResponse;
    }
    const response = await forward(request);
    if (delayed && endOfSpans(request) && response.status === 200) {
      await forward(delayed);
      delayed = undefined;
    }
    return response;
  };
};

const closeMutants: readonly Mutant[] = [
  mutant(
    'ends-unknown',
    'ends a conversation with an id that no span has',
    'CLIENT-040',
    changeRequest(end, (request) => ({
      ...request,
      path: request.path.replace('/end', '-other/end'),
    })),
  ),
  mutant(
    'end-with-body',
    'sends an empty JSON object with the end call',
    'CLIENT-041',
    changeRequest(end, (request) =>
      withBody(request, '{}', { 'content-type': 'application/json' }),
    ),
  ),
  mutant(
    'ends-too-early',
    'ends a conversation before its last spans are sent',
    'CLIENT-042',
    endsTooEarly,
  ),
];

const isSecondPage = (request: ProxyRequest): boolean =>
  pagedRead(request) && queryParameter(request.path, 'skip') === '25';

const resultsMutants: readonly Mutant[] = [
  mutant(
    'camel-case-filter',
    'spells failed_only as failedOnly',
    'CLIENT-050',
    changeRequest(production, (request) => ({
      ...request,
      path: request.path.replace('failed_only', 'failedOnly'),
    })),
  ),
  mutant(
    'filter-of-other-list',
    'filters production results by agent',
    'CLIENT-050',
    changeQuery(production, (query) => query.set('agent', 'shop')),
  ),
  mutant(
    'local-date',
    'sends a date that is not ISO 8601',
    'CLIENT-052',
    changeQuery(production, (query) => query.set('started_after', '20/11/2026')),
  ),
  mutant(
    'plus-not-encoded',
    'does not percent-encode the + of a UTC offset',
    'CLIENT-052',
    changeRequest(production, (request) => ({
      ...request,
      path: request.path.replace('%2B', '+'),
    })),
  ),
  mutant(
    'filter-twice',
    'sends a filter twice',
    'CLIENT-052',
    changeRequest(production, (request) => ({
      ...request,
      path: `${request.path}&failed_only=true`,
    })),
  ),
  mutant(
    'large-limit',
    'requests pages of 1000 sessions',
    'CLIENT-053',
    changeQuery(pagedRead, (query) => query.set('limit', '1000')),
  ),
  mutant(
    'first-page-only',
    'reads only the first page of a list',
    'CLIENT-054',
    setTotal(plainRead, 50),
  ),
  mutant(
    'stops-early',
    'stops one page before the end of a list',
    'CLIENT-054',
    setTotal(isSecondPage, 50),
  ),
  mutant(
    'skips-sessions',
    'leaves a gap between two pages',
    'CLIENT-055',
    changeQuery(isSecondPage, (query) => query.set('skip', '30')),
  ),
  mutant(
    'changes-filters',
    'drops a filter after the first page',
    'CLIENT-056',
    changeQuery(
      (request) => pagedRead(request) && queryParameter(request.path, 'skip') !== undefined,
      (query) => query.delete('agent'),
    ),
  ),
];

/** Faulty clients. Each is the reference client with one fault. */
export const clientMutants: readonly Mutant[] = [
  ...requestMutants,
  ...traceMutants,
  ...retryMutants,
  ...closeMutants,
  ...resultsMutants,
];
