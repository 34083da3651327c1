/** `POST /v1/traces`: the requests that succeed, and the response to them (spec 2.1, 4.1). */
import { SERVICE_API_KEY_HEADER } from '../../../../src/contract/index.ts';
import { isObject } from '../../../../src/platform/json.ts';
import { checkEach, outcomeFinding, type Check } from '../../../engine/checks/check.ts';
import { requirePlainAccepted } from '../../../engine/checks/responses.ts';
import { isSuccess, replaceParts } from '../../../engine/mutants/combinators.ts';
import type { ProxyRequest, ProxyResponse, Transform } from '../../../engine/mutants/mutant.ts';
import { withDefaults, type MutantEntry, type Subject } from '../../../engine/requirement.ts';
import { isAccepted, type Exchange } from '../../../engine/transcript/reading.ts';
import {
  CLOSED_LAST,
  CLOSED_TWICE_SUBJECT,
  HEADER_AS_PROTOBUF,
  IGNORED_ALONE,
  LEFT_OPEN,
} from '../close/evidence.ts';
import { IGNORED_SPAN, PROTOBUF_EVENT, PROTOBUF_LINK } from '../close/planned-conversations.ts';
import { bodyFinding } from '../findings.ts';
import { UNKNOWN_FIELD } from '../spans.ts';
import { refusal, hasValidKey, spanIdsIn } from '../transforms.ts';
import {
  accepts,
  acceptsLike,
  contains,
  hasType,
  isGzip,
  isPlainJson,
  isValidTraces,
  isWellFormed,
  LOST_SPANS,
  noTraces,
  refuseTraces,
  traces,
  VALUES_STEP,
} from './trace-requests.ts';
import type { TracesStep } from '../steps.ts';
import { isStep } from '../transcript.ts';

/** Steps that a requirement names. The first requirement judges all others. */
const special = {
  protobuf: ['protobuf'],
  gzip: ['gzip', 'gzip protobuf'],
  header: ['header', HEADER_AS_PROTOBUF],
  twoIdsOfOne: ['attribute and header'],
  ignored: ['ignored', IGNORED_ALONE],
  manySpans: ['many spans'],
  gzipForms: ['gzip of two members', 'gzip in chunks'],
  resent: ['re-sent again', 're-sent as protobuf', 'closed twice again', 'idle again'],
  otherSpans: ['tools', 'failed', 'wrapper'],
  large: ['under 10 MB', 'protobuf under 10 MB', 'gzip of 3 MB'],
  twoConversations: ['two ids'],
  charset: ['charset'],
  typeCase: ['split'],
  chunked: ['old'],
  otherFields: [LEFT_OPEN],
  unknownFields: ['one trace', CLOSED_LAST],
  values: [VALUES_STEP],
  sameIds: ['backlog'],
  unusualIds: ['case', 'other case', 'reserved', 'slash', 'long'],
} as const satisfies Record<string, readonly TracesStep[]>;

const responds = (description: string, parts: Partial<ProxyResponse>): MutantEntry => ({
  description,
  transform: replaceParts(traces(), parts, isSuccess),
});

const PROTOBUF_TYPE = { 'content-type': 'application/x-protobuf' };
const JSON_TYPE = { 'content-type': 'application/json' };

const isFromService = ({ status }: ProxyResponse): boolean => status === 200;

export const acceptedTraces: Subject = {
  requirements: withDefaults(
    { reason: LOST_SPANS },
    {
      'SERVICE-001': {
        rule: '`POST /v1/traces` accepts OTLP/JSON with hexadecimal trace and span ids.',
        section: '4.1',
        statements: [
          ...(['1.7', '2.1.1', '2.1.4', '2.1.5', '2.1.9', '2.1.10', '2.1.r3'] as const),
          ...(['2.1.r3c', '2.1.r3d', '4.1.1', '4.1.3', '4.1.7', '9.1'] as const),
        ],
        probes: ['service/conversations'],
        check: accepts((exchange) => !isStep(exchange, 'traces', ...Object.values(special).flat())),
        mutants: {
          'json-refused': refuseTraces(
            'Refuses JSON.',
            (request) => isPlainJson(request) && isWellFormed(request),
          ),
          'hex-refused': refuseTraces(
            'Refuses hexadecimal span ids.',
            (request) => isPlainJson(request) && /"spanId":"[0-9a-f]{16}"/.test(request.body),
          ),
          'json-500': {
            ...refuseTraces(
              'Returns 500 for JSON.',
              (request) =>
                isPlainJson(request) &&
                isWellFormed(request) &&
                hasValidKey(request) &&
                contains('resourceSpans')(request),
              500,
            ),
            alsoKills: ['SERVICE-010', 'SERVICE-011'],
          },
        },
      },
      'SERVICE-002': {
        rule: '`POST /v1/traces` accepts OTLP in protobuf.',
        statements: ['4.1.3', '4.1.7'],
        probes: ['service/conversations'],
        check: acceptsLikePlain(special.protobuf),
        mutants: {
          'protobuf-refused': refuseTraces(
            'Refuses protobuf.',
            (request) => hasType('application/x-protobuf')(request) && !isGzip(request),
            415,
          ),
          'protobuf-events-refused': refuseTraces(
            'Refuses protobuf with events.',
            contains(PROTOBUF_EVENT),
          ),
          'protobuf-links-refused': refuseTraces(
            'Refuses protobuf with links.',
            contains(PROTOBUF_LINK),
          ),
          'protobuf-integers-refused': refuseTraces(
            'Refuses protobuf with integers of several bytes.',
            (request) =>
              hasType('application/x-protobuf')(request) &&
              contains('gen_ai.usage.input_tokens')(request),
          ),
        },
      },
      'SERVICE-003': {
        rule: '`POST /v1/traces` accepts gzip-encoded JSON and gzip-encoded protobuf.',
        statements: ['4.1.4'],
        probes: ['service/conversations'],
        // The same format, uncompressed, is the plain request.
        check: acceptsLike(special.gzip, (step) => [step === 'gzip' ? 'json' : 'protobuf']),
        mutants: { 'gzip-refused': refuseTraces('Refuses gzip.', isGzip, 415) },
      },
      'SERVICE-232': {
        rule: '`POST /v1/traces` accepts gzip of several members, and gzip in a body with `Transfer-Encoding: chunked`.',
        statements: ['4.1.4'],
        observability: 'provoked',
        probes: ['service/conversations'],
        check: requirePlainAccepted(
          (plain, { step }) => step === 'gzip in chunks' && isStep(plain, 'traces', 'old'),
          isAccepted,
          acceptsLike(special.gzipForms, () => ['gzip']),
        ),
        mutants: {
          'gzip-members-refused': refuseTraces('Reads only the first member of gzip.', hasMembers),
          'gzip-chunked-refused': refuseTraces(
            'Refuses gzip in a chunked body.',
            (request) => isGzip(request) && request.headers['transfer-encoding'] !== undefined,
          ),
        },
      },
      'SERVICE-004': {
        rule: '`POST /v1/traces` accepts spans without `gen_ai.conversation.id` when `X-Conversation-Id` names the conversation.',
        section: '4.1',
        statements: ['2.1.3', '4.1.5', '4.1.6'],
        check: acceptsLike(special.header, (step) => [step === 'header' ? 'json' : 'protobuf']),
        mutants: {
          'header-ignored': refuseTraces(
            'Ignores X-Conversation-Id.',
            (request) =>
              request.headers['x-conversation-id'] !== undefined &&
              !contains('gen_ai.conversation.id')(request),
          ),
        },
      },
      'SERVICE-005': {
        rule: 'The response to an accepted trace request has status 200.',
        statements: ['4.1.8'],
        reason: 'Exporters treat other statuses as failures and send the spans again.',
        check: checkEach(
          (exchange) => isValidTraces(exchange) && isAccepted(exchange),
          (exchange) =>
            exchange.response?.status === 200 ? [] : [outcomeFinding(exchange, '200')],
          noTraces,
        ),
        mutants: {
          'traces-202': responds('Accepts trace requests with 202.', { status: 202 }),
          'traces-204': responds('Accepts trace requests with 204.', {
            status: 204,
            body: '',
            headers: {},
          }),
        },
      },
      'SERVICE-006': {
        rule: 'The response to an accepted trace request is an empty `ExportTraceServiceResponse`.',
        statements: ['4.1.8'],
        reason: 'Exporters read any content as a report of rejected spans.',
        check: hasEmptyResponse(),
        mutants: {
          'partial-success': responds('Reports rejected spans in the response.', {
            body: '{"partialSuccess":{"rejectedSpans":"1"}}',
          }),
          'traces-text': responds('Returns the text OK for trace requests.', { body: 'OK' }),
          'protobuf-of-braces': responds('Returns {} as protobuf.', {
            body: '{}',
            headers: PROTOBUF_TYPE,
          }),
        },
        legal: {
          'json-empty-body': {
            description: 'Returns an empty body for JSON trace requests.',
            transform: replaceParts(traces(), { body: '', headers: {} }, isFromService),
          },
          'partial-success-empty': {
            description: 'Returns an empty partialSuccess for trace requests.',
            transform: replaceParts(traces(), { body: '{"partialSuccess":{}}' }, isFromService),
          },
          'protobuf-json': {
            description: 'Returns {} for every trace request.',
            transform: replaceParts(traces(), { body: '{}', headers: JSON_TYPE }, isFromService),
          },
        },
      },
      'SERVICE-007': {
        rule: 'Spans without `gen_ai.operation.name` cause no error, whether they arrive with a turn or alone.',
        statements: ['2.1.4', '2.1.r2'],
        reason:
          'Instrumentation exports spans of all kinds together; one error loses the whole batch.',
        observability: 'provoked',
        check: acceptsLikePlain(special.ignored),
        mutants: {
          'nameless-refused': refuseTraces(
            'Refuses spans without an operation name.',
            contains(IGNORED_SPAN),
          ),
        },
      },
      'SERVICE-008': {
        rule: '`POST /v1/traces` accepts a span that was sent before.',
        statements: ['3.1.1', '3.1.2', '3.1.3'],
        reason:
          'Exporters resend spans after a timeout and would report an error for data that arrived.',
        observability: 'provoked',
        // A span in protobuf has to be accepted only if another one in protobuf is.
        check: acceptsLike(special.resent, (step) => [
          step === 're-sent as protobuf' ? 'protobuf' : 're-sent',
        ]),
        mutants: {
          'resent-refused': {
            description: 'Refuses spans that it already has.',
            transform: refuseKnownSpans,
          },
        },
      },
      'SERVICE-009': {
        rule: '`POST /v1/traces` accepts `execute_tool` spans, `invoke_agent` spans, failed spans, and all optional attributes.',
        statements: ['2.1.6', '2.1.7', '2.1.12', '2.1.13', '2.1.14', '2.1.15', '2.1.16', '2.1.17'],
        check: acceptsLikePlain(special.otherSpans),
        mutants: {
          'tools-refused': refuseTraces('Refuses tool calls.', contains('execute_tool')),
          'errors-refused': refuseTraces('Refuses failed spans.', contains('"code":2')),
          'wrappers-refused': refuseTraces('Refuses invoke_agent spans.', contains('invoke_agent')),
        },
      },
      'SERVICE-200': {
        rule: '`POST /v1/traces` accepts the fields of OTLP that it does not need, such as events, links, and scopes.',
        statements: ['2.1.r3c', '2.1.r3d', '4.1.7'],
        observability: 'provoked',
        probes: ['service/conversations'],
        check: acceptsLikePlain(special.otherFields),
        mutants: {
          'events-refused': refuseTraces('Refuses spans with events.', contains('"events":[{')),
          'schema-url-refused': refuseTraces('Refuses schema URLs.', contains('"schemaUrl"')),
        },
      },
      'SERVICE-201': {
        rule: '`POST /v1/traces` ignores unknown fields, in JSON and in protobuf.',
        statements: ['4.1.7'],
        reason: 'Exporters of a newer version of OTLP would lose all spans.',
        observability: 'provoked',
        probes: ['service/conversations'],
        check: acceptsLike(special.unknownFields, (step) => [
          step === CLOSED_LAST ? 'protobuf' : 'json',
        ]),
        mutants: {
          'unknown-json-refused': refuseTraces(
            'Refuses JSON with unknown fields.',
            (request) => isPlainJson(request) && contains(UNKNOWN_FIELD)(request),
          ),
          'unknown-protobuf-refused': refuseTraces(
            'Refuses protobuf with unknown fields.',
            (request) =>
              hasType('application/x-protobuf')(request) && contains(UNKNOWN_FIELD)(request),
          ),
        },
      },
      'SERVICE-202': {
        rule: '`POST /v1/traces` accepts attribute values of every OTLP type, including bytes, empty values, and integers as JSON numbers.',
        statements: ['2.1.14', '2.1.17', '4.1.7'],
        observability: 'provoked',
        probes: ['service/silences'],
        check: acceptsLikePlain(special.values),
        mutants: {
          'bytes-refused': refuseTraces('Refuses attributes with bytes.', contains('bytesValue')),
          'integers-refused': refuseTraces(
            'Refuses integers that are JSON numbers.',
            contains('"intValue":12}'),
          ),
          'empty-values-refused': refuseTraces('Refuses empty values.', contains('"value":{}')),
        },
      },
      'SERVICE-203': {
        rule: '`POST /v1/traces` accepts a body with `Transfer-Encoding: chunked`.',
        statements: ['4.1.7'],
        observability: 'provoked',
        probes: ['service/conversations'],
        check: acceptsLike(special.chunked, () => ['json']),
        mutants: {
          'chunked-refused': refuseTraces(
            'Requires Content-Length.',
            ({ headers }) => headers['transfer-encoding'] !== undefined,
            411,
          ),
        },
      },
      'SERVICE-204': {
        rule: 'The media type in `Content-Type` may have any case, such as `Application/JSON`.',
        section: '4.1',
        statements: ['4.1.3'],
        observability: 'provoked',
        probes: ['service/conversations'],
        check: acceptsLikePlain(special.typeCase),
        mutants: {
          'type-case-refused': refuseTraces(
            'Refuses a media type in another case.',
            ({ headers }) => /[A-Z]/.test((headers['content-type'] ?? '').split(';', 1)[0] ?? ''),
            415,
          ),
        },
      },
      'SERVICE-012': {
        rule: '`POST /v1/traces` accepts `Content-Type: application/json; charset=utf-8`.',
        statements: ['4.1.3'],
        probes: ['service/refusals'],
        check: acceptsLikePlain(special.charset, ['control']),
        mutants: {
          'charset-refused': refuseTraces(
            'Refuses a content type with a charset.',
            ({ headers }) => (headers['content-type'] ?? '').includes('charset'),
            415,
          ),
        },
      },
    },
  ),
};

/** Matches gzip of several members: the header of the first one occurs again. */
function hasMembers(request: ProxyRequest): boolean {
  const bytes = Buffer.from(request.bytes ?? '');
  return isGzip(request) && bytes.lastIndexOf(bytes.subarray(0, GZIP_HEADER_BYTES)) > 0;
}

const GZIP_HEADER_BYTES = 9;

/** Judges some steps only if a plain request was accepted. */
function acceptsLikePlain(
  steps: readonly TracesStep[],
  plain: readonly TracesStep[] = ['json', 'old'],
): Check {
  return acceptsLike(steps, () => plain);
}

/** Requires an empty body or an empty JSON object. */
function hasEmptyResponse(): Check {
  const isEmpty = ({ response, json }: Exchange): boolean =>
    response?.body === '' ||
    // Exporters can't decode JSON that is declared as protobuf.
    (!hasProtobufType(response) && isObject(json) && Object.keys(json).length === 0);
  const expected = 'an empty ExportTraceServiceResponse: {} or no bytes';
  return checkEach(
    (exchange) => isValidTraces(exchange) && isAccepted(exchange),
    (exchange) => {
      if (isEmpty(exchange)) return [];
      const finding = bodyFinding(exchange, '', expected);
      return [reportsNothing(exchange) ? { ...finding, isNote: true } : finding];
    },
    noTraces,
  );
}

const hasProtobufType = (response: Exchange['response']): boolean =>
  (response?.headers['content-type'] ?? '').startsWith('application/x-protobuf');

/** Returns whether a response contains `partialSuccess` without rejected spans and without a message. */
function reportsNothing({ json, response }: Exchange): boolean {
  // In protobuf: an empty message as field 1.
  if (response?.body === '\n\0') return true;
  if (!isObject(json) || Object.keys(json).join() !== 'partialSuccess') return false;
  const { partialSuccess: report } = json;
  if (!isObject(report)) return false;
  const { rejectedSpans = 0, errorMessage = '', ...others } = report;
  return Object.keys(others).length === 0 && Number(rejectedSpans) === 0 && errorMessage === '';
}

/** Refuses trace requests with a span of an earlier one, unless both may arrive at the same moment. */
function refuseKnownSpans(): Transform {
  const known = new Set<string>();
  return async (request, forward) => {
    const isPlain =
      isPlainJson(request) &&
      contains('gen_ai.conversation.id')(request) &&
      !contains(CLOSED_TWICE_SUBJECT)(request);
    if (request.endpoint !== 'traces' || !isPlain) return forward(request);
    const key = request.headers[SERVICE_API_KEY_HEADER] ?? '';
    const ids = spanIdsIn(request.body).map((id) => `${key} ${id}`);
    if (ids.some((id) => known.has(id))) return refusal(409);
    for (const id of ids) known.add(id);
    return forward(request);
  };
}
