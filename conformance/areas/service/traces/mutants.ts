import type { ServiceRequirementId } from '../requirements.ts';
import {
  clockAdvanceMs,
  emptyTraceResponse,
  errorResponse,
  hasValidKey,
  intrusiveOnly,
  mutant,
} from '../transforms.ts';
import {
  always,
  changeResponse,
  isAccepted,
  jsonResponse,
  replaceParts,
  respondInstead,
  to,
  type When,
  dropInstead,
} from '../../../engine/mutants/combinators.ts';
import type {
  Mutant,
  ProxyResponse,
  Transform,
  TransformFactory,
} from '../../../engine/mutants/mutant.ts';
import { SERVICE_API_KEY_HEADER } from '../../../../src/contract/index.ts';

const traces = (when: When = always): When => to('traces', when);
const contains =
  (text: string): When =>
  ({ body }) =>
    body.includes(text);
const hasType =
  (type: string): When =>
  ({ headers }) =>
    headers['content-type'] === type;
const isGzip: When = ({ headers }) => headers['content-encoding'] === 'gzip';
const isPlainJson: When = (request) => hasType('application/json')(request) && !isGzip(request);
const isWellFormed: When = ({ json: body }) => body !== undefined;
const hasOtherType: When = ({ headers }) =>
  /^(text|application\/(xml|octet))/.test(headers['content-type'] ?? '');
const lacksConversationId: When = (request) =>
  isPlainJson(request) &&
  contains('resourceSpans')(request) &&
  contains('gen_ai.operation.name')(request) &&
  !contains('gen_ai.conversation.id')(request) &&
  request.headers['x-conversation-id'] === undefined;

const refuses = (
  name: string,
  description: string,
  kills: ServiceRequirementId | readonly ServiceRequirementId[],
  when: When,
  status = 400,
): Mutant =>
  mutant(
    name,
    description,
    kills,
    respondInstead(traces(when), () => errorResponse(status)),
  );

function refuseKnownBodies(): Transform {
  const known = new Set<string>();
  return async (request, forward) => {
    if (request.endpoint !== 'traces' || !isPlainJson(request)) return forward(request);
    if (known.has(request.body)) return errorResponse(409);
    known.add(request.body);
    return forward(request);
  };
}

const formats: Mutant[] = [
  refuses(
    'json-refused',
    'Refuses JSON.',
    'SERVICE-001',
    (request) => isPlainJson(request) && isWellFormed(request),
  ),
  refuses(
    'hex-refused',
    'Refuses hexadecimal span ids.',
    'SERVICE-001',
    (request) => isPlainJson(request) && /"spanId":"[0-9a-f]{16}"/.test(request.body),
  ),
  refuses(
    'json-500',
    'Returns 500 for JSON.',
    ['SERVICE-001', 'SERVICE-010', 'SERVICE-011'],
    (request) =>
      isPlainJson(request) &&
      isWellFormed(request) &&
      hasValidKey(request) &&
      contains('resourceSpans')(request),
    500,
  ),
  refuses(
    'protobuf-refused',
    'Refuses protobuf.',
    'SERVICE-002',
    (request) => hasType('application/x-protobuf')(request) && !isGzip(request),
    415,
  ),
  refuses('gzip-refused', 'Refuses gzip.', 'SERVICE-003', isGzip, 415),
  refuses(
    'header-ignored',
    'Ignores X-Conversation-Id.',
    'SERVICE-004',
    ({ headers }) => headers['x-conversation-id'] !== undefined,
  ),
  refuses(
    'charset-refused',
    'Refuses a content type with a charset.',
    'SERVICE-012',
    ({ headers }) => (headers['content-type'] ?? '').includes('charset'),
    415,
  ),
];

const responses: Mutant[] = [
  mutant(
    'traces-202',
    'Accepts trace requests with 202.',
    'SERVICE-005',
    replaceParts(traces(), { status: 202 }, isAccepted),
  ),
  mutant(
    'traces-204',
    'Accepts trace requests with 204.',
    'SERVICE-005',
    replaceParts(traces(), { status: 204, body: '', headers: {} }, isAccepted),
  ),
  mutant(
    'partial-success',
    'Reports rejected spans in the response.',
    'SERVICE-006',
    replaceParts(traces(), { body: '{"partialSuccess":{"rejectedSpans":"1"}}' }, isAccepted),
  ),
  mutant(
    'traces-text',
    'Returns the text OK for trace requests.',
    'SERVICE-006',
    replaceParts(traces(), { body: 'OK' }, isAccepted),
  ),
];

const spanKinds: Mutant[] = [
  refuses(
    'nameless-refused',
    'Refuses spans without an operation name.',
    'SERVICE-007',
    contains('GET /orders'),
  ),
  mutant('resent-refused', 'Refuses spans that it already has.', 'SERVICE-008', refuseKnownBodies),
  refuses('tools-refused', 'Refuses tool calls.', 'SERVICE-009', contains('execute_tool')),
  refuses('errors-refused', 'Refuses failed spans.', 'SERVICE-009', contains('"code":2')),
  refuses(
    'wrappers-refused',
    'Refuses invoke_agent spans.',
    'SERVICE-009',
    contains('invoke_agent'),
  ),
  refuses(
    'odd-500',
    'Returns 500 for a body that is not JSON.',
    'SERVICE-011',
    (request) => isPlainJson(request) && !isWellFormed(request),
    500,
  ),
  mutant(
    'odd-dropped',
    'Drops the connection when messages are structured values.',
    'SERVICE-011',
    dropInstead(traces(contains('kvlistValue'))),
  ),
];

const refusals: Mutant[] = [
  mutant(
    'no-id-taken',
    'Accepts spans without a conversation id.',
    'SERVICE-020',
    respondInstead(traces(lacksConversationId), () => emptyTraceResponse),
  ),
  refuses(
    'no-id-422',
    'Refuses spans without a conversation id with 422.',
    'SERVICE-020',
    lacksConversationId,
    422,
  ),
  mutant(
    'no-id-error',
    'Returns error instead of message when the conversation id is missing.',
    'SERVICE-021',
    respondInstead(traces(lacksConversationId), () => jsonResponse(400, { error: 'No id.' })),
  ),
  mutant(
    'no-id-text',
    'Returns plain text when the conversation id is missing.',
    'SERVICE-021',
    respondInstead(traces(lacksConversationId), () => ({ ...errorResponse(400), body: 'No id.' })),
  ),
  mutant(
    'any-type-taken',
    'Accepts every content type.',
    'SERVICE-022',
    respondInstead(traces(hasOtherType), () => emptyTraceResponse),
  ),
  refuses('other-type-400', 'Refuses other content types with 400.', 'SERVICE-022', hasOtherType),
  refuses('xml-406', 'Refuses XML with 406.', 'SERVICE-022', hasType('application/xml'), 406),
];

const isTooLarge: When = ({ body }) => body.length > 10_485_760;

const limits: Mutant[] = [
  mutant(
    'any-size',
    'Accepts bodies of any size.',
    'SERVICE-023',
    respondInstead(traces(isTooLarge), () => emptyTraceResponse),
    intrusiveOnly,
  ),
  mutant(
    'too-large-400',
    'Refuses large bodies with 400.',
    'SERVICE-023',
    respondInstead(traces(isTooLarge), () => errorResponse(400)),
    intrusiveOnly,
  ),
  mutant(
    'too-large-dropped',
    'Drops the connection when a body is large.',
    'SERVICE-023',
    dropInstead(traces(isTooLarge)),
    intrusiveOnly,
  ),
  mutant(
    'five-megabytes',
    'Refuses bodies over 5 MB.',
    'SERVICE-024',
    respondInstead(
      traces(({ body }) => body.length > 5_000_000),
      () => errorResponse(413),
    ),
    intrusiveOnly,
  ),
];

const isRateLimited = ({ status }: ProxyResponse): boolean => status === 429;

const MINUTE_MS = 60_000;
/** How many requests reach the service, which also limits the rate. */
const FORWARDED_MAX = 100;

interface RateLimit {
  /** Requests of a key within a fixed minute. */
  max: number;
  /** Whether a new minute resets the count (default: true). */
  resets?: boolean;
  retryAfter?: string;
}

/**
 * Applies another rate limit. Its minutes start with the first request and when the service
 * clock has been advanced by a minute.
 */
export const limitRate =
  ({ max, resets = true, retryAfter = '60' }: RateLimit): TransformFactory =>
  () => {
    const counts = new Map<string, number>();
    let advancedMs = 0;
    return async (request, forward) => {
      advancedMs += clockAdvanceMs(request);
      if (resets && advancedMs >= MINUTE_MS) {
        counts.clear();
        advancedMs = 0;
      }
      if (request.endpoint !== 'traces') return forward(request);
      const key = request.headers[SERVICE_API_KEY_HEADER] ?? '';
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      if (count > max)
        return jsonResponse(429, { message: 'Wait.' }, { 'retry-after': retryAfter });
      return count > FORWARDED_MAX ? emptyTraceResponse : forward(request);
    };
  };

const withLimit = (
  name: string,
  description: string,
  kills: ServiceRequirementId,
  limit: RateLimit,
): Mutant => mutant(name, description, kills, limitRate(limit), intrusiveOnly);

const withHeaders = (name: string, description: string, headers: Record<string, string>): Mutant =>
  mutant(
    name,
    description,
    'SERVICE-027',
    replaceParts(traces(), { headers }, isRateLimited),
    intrusiveOnly,
  );

const rates: Mutant[] = [
  mutant(
    'no-rate',
    'Has no rate limit.',
    'SERVICE-026',
    changeResponse(traces(), (response) =>
      isRateLimited(response) ? emptyTraceResponse : response,
    ),
    intrusiveOnly,
  ),
  mutant(
    'rate-503',
    'Returns 503 above the rate.',
    ['SERVICE-011', 'SERVICE-026'],
    replaceParts(traces(), { status: 503 }, isRateLimited),
    intrusiveOnly,
  ),
  withLimit('half-the-rate', 'Returns 429 after 60 requests.', 'SERVICE-028', { max: 60 }),
  withLimit('rate-119', 'Returns 429 after 119 requests.', 'SERVICE-028', { max: 119 }),
  withLimit('rate-150', 'Returns 429 after 150 requests.', 'SERVICE-026', { max: 150 }),
  withLimit('rate-250', 'Returns 429 after 250 requests.', 'SERVICE-026', { max: 250 }),
  withLimit('rate-never-again', 'Never accepts a key again after 429.', 'SERVICE-031', {
    max: 120,
    resets: false,
  }),
  withLimit('retry-after-too-soon', 'Promises a second but needs a minute.', 'SERVICE-031', {
    max: 120,
    retryAfter: '1',
  }),
  withHeaders('no-retry-after', 'Omits Retry-After.', {}),
  withHeaders('retry-after-soon', 'Returns the word soon in Retry-After.', {
    'retry-after': 'soon',
  }),
  withHeaders('retry-after-0', 'Returns 0 in Retry-After.', { 'retry-after': '0' }),
  withHeaders('retry-after-epoch', 'Returns a Unix timestamp in Retry-After.', {
    'retry-after': '1795167000',
  }),
  withHeaders('retry-after-over', 'Returns a past date in Retry-After.', {
    'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT',
  }),
];

/** Mutants of `POST /v1/traces`. */
export const tracesMutants: readonly Mutant[] = [
  ...formats,
  ...responses,
  ...spanKinds,
  ...refusals,
  ...limits,
  ...rates,
];
