import { gzipSync } from 'node:zlib';
import {
  chain,
  changeQuery,
  changeRequest,
  to,
  withBody,
} from '../../engine/mutants/combinators.ts';
import type { ProxyRequest, TransformFactory, Variant } from '../../engine/mutants/mutant.ts';
import {
  editAttributes,
  editSpans,
  pagedRead,
  plainRead,
  secondBatch,
  sendBefore,
  setAttribute,
  setTotal,
  storedResponse,
  variant,
  withHeaders,
  withoutHeader,
} from './transforms.ts';

const end = to('end');
const production = to('production');
const simulations = to('simulations');

/** Sends the selected requests again after they were accepted. */
const twice =
  (when: (request: ProxyRequest) => boolean): TransformFactory =>
  () =>
  async (request, forward) => {
    const response = await forward(request);
    return when(request) && response.status === 200 ? forward(request) : response;
  };

/** Suppresses the selected requests. */
const never =
  (when: (request: ProxyRequest) => boolean): TransformFactory =>
  () =>
  async (request, forward) =>
    when(request) ? storedResponse : forward(request);

/** Sends the second batch again after the conversation has ended. */
const resendAfterEnd: TransformFactory = () => {
  let batch: ProxyRequest | undefined;
  return async (request, forward) => {
    if (secondBatch(request)) batch = request;
    const response = await forward(request);
    if (batch && end(request) && response.status === 200) await forward(batch);
    return response;
  };
};

/** A wait longer than Retry-After, in milliseconds. */
const LONG_WAIT_MS = 3_000;

/** Unusual but legal clients: no requirement may fail or warn. */
export const clientVariants: readonly Variant[] = [
  variant(
    'gzip-json',
    'compresses a batch of OTLP/JSON, and writes its headers in another case',
    changeRequest(secondBatch, (request) => ({
      ...withHeaders(request, {
        'content-type': 'Application/JSON; charset=utf-8',
        'content-encoding': 'GZIP',
      }),
      bytes: gzipSync(request.body),
    })),
  ),
  variant(
    'uppercase-ids',
    'writes hexadecimal ids in upper case',
    editSpans((spans) => {
      for (const span of spans) {
        span.traceId = span.traceId.toUpperCase();
        span.spanId = span.spanId.toUpperCase();
      }
    }),
  ),
  variant(
    'no-genai-spans',
    'sends a batch in which no span is part of a conversation',
    editAttributes((attributes) => attributes.filter(({ key }) => !key.startsWith('gen_ai.'))),
  ),
  variant(
    'other-operation',
    'sends a span with another operation',
    setAttribute('gen_ai.operation.name', { stringValue: 'embeddings' }),
  ),
  variant(
    'tool-call-parts',
    'sends messages with parts that are not text',
    setAttribute('gen_ai.output.messages', {
      stringValue: '[{"role":"assistant","parts":[{"type":"tool_call","name":"find"}]}]',
    }),
  ),
  variant(
    'no-spans',
    'sends a trace request without spans',
    changeRequest(secondBatch, (request) => withBody(request, '{"resourceSpans":[]}')),
  ),
  variant('sends-twice', 'sends a batch twice, although it was accepted', twice(secondBatch)),
  variant('resends-after-end', 'sends a stored batch again after the end call', resendAfterEnd),
  variant('ends-twice', 'ends every conversation twice', twice(end)),
  variant(
    'never-ends',
    'never ends a conversation, so that the service closes it after 24 hours',
    never(end),
  ),
  variant(
    'reads-nothing',
    'never reads results',
    never((request) => request.method === 'GET'),
  ),
  variant(
    'waits-longer',
    'waits longer than Retry-After',
    () => async (request, forward, clock) => {
      const response = await forward(request);
      if (response.status === 429) await clock.sleep(LONG_WAIT_MS);
      return response;
    },
  ),
  variant('polls', 'reads results several times in a row', twice(production)),
  variant('reads-empty-page', 'continues to read until a page is empty', setTotal(plainRead, 61)),
  variant(
    'overlapping-pages',
    'reads pages that overlap',
    changeQuery(pagedRead, (query) => {
      if (query.get('skip') === '50') query.set('skip', '45');
    }),
  ),
  variant(
    'looks-at-newest',
    'reads only the ten newest sessions of a list',
    chain(
      setTotal(plainRead, 10),
      changeQuery(plainRead, (query) => query.set('limit', '10')),
    ),
  ),
  variant(
    'python-boolean',
    'spells booleans as Python does, and sends a time without an offset',
    changeQuery(production, (query) => {
      query.set('failed_only', 'True');
      query.set('started_after', '2026-01-01T00:00:00');
    }),
  ),
  variant(
    'cache-buster',
    'adds a parameter that resembles no filter',
    changeQuery(simulations, (query) => query.set('_', '17')),
  ),
  variant(
    'metrics',
    'also exports metrics, and sends a HEAD request',
    sendBefore(secondBatch, async (request, forward) => {
      await forward({ ...request, path: '/v1/metrics' });
      const empty = withoutHeader(withBody(request, ''), 'content-type');
      await forward({ ...empty, method: 'HEAD', path: '/api/simulations/sessions/' });
    }),
  ),
];
