import {
  INGEST_BODY_BYTES_MAX,
  INGEST_REQUESTS_PER_MINUTE_MAX,
  PAGE_LIMIT_DEFAULT,
  PAGE_LIMIT_MAX,
} from '../constants.ts';
import { CONVERSATION_ID_BYTES_MAX, CONVERSATION_ID_LENGTH_MAX } from '../span-rules.ts';
import {
  json,
  retryAfter,
  JSON_TYPE,
  type RouteParameter,
  type RouteResponse,
  type Routes,
} from './route.ts';

const PROTOBUF_TYPE = 'application/x-protobuf';

/** Returns an error response with a message for people (spec 7, area A). */
function refuse(description: string, message: string): RouteResponse {
  return { description, content: json('ServiceError'), examples: { error: { message } } };
}

const unauthorized: RouteResponse = {
  ...refuse(
    'The request has no API key, or an unknown API key. The specification leaves the status and body open (spec 5).',
    'x-service-api-key must contain an API key: the header is missing.',
  ),
  isExtension: true,
};

const failed: RouteResponse = {
  ...refuse('The service failed.', 'The service failed to respond.'),
  isExtension: true,
};

const unavailable: RouteResponse = {
  ...refuse(
    'The service is busy, or its database is locked or full.',
    'The service is processing too many traces right now. Send the request again.',
  ),
  headers: retryAfter(true),
  isExtension: true,
};

const rateLimited: RouteResponse = {
  ...refuse(
    'Too many requests. The specification limits only trace ingestion.',
    'A rate_limit fault is set on this service.',
  ),
  headers: retryAfter(true),
  isExtension: true,
};

/** Error responses of every route. */
const commonErrors = { 401: unauthorized, 500: failed, 503: unavailable } as const;

/** Returns a filter by the start of sessions. `side` is "later" or "earlier". */
const startFilter = (name: string, side: string, example: string): RouteParameter => ({
  name,
  in: 'query',
  description: `Only sessions that started at this time or ${side}: ISO 8601, UTC if it has no offset.`,
  schema: { type: 'string', format: 'iso8601' },
  example,
});

const evalName: RouteParameter = {
  name: 'eval',
  in: 'query',
  description:
    'Only sessions with an outcome of an eval whose name contains this text, in any case. It does not filter the outcomes of a session.',
  schema: { type: 'string' },
  example: 'order',
};

const failedOnly: RouteParameter = {
  name: 'failed_only',
  in: 'query',
  description:
    'Only sessions with a failed eval, and only their failed outcomes. `outcome_summary` still covers all outcomes of a session.',
  schema: { type: 'boolean', default: false },
};

const includeTraces: RouteParameter = {
  name: 'include_traces',
  in: 'query',
  description: 'Whether each session has its turns in `traces`. If false, the key is absent.',
  schema: { type: 'boolean', default: false },
};

const skip: RouteParameter = {
  name: 'skip',
  in: 'query',
  description:
    'Number of sessions to skip. For the next page, the number of items on all pages so far.',
  schema: { type: 'integer', minimum: 0, default: 0 },
};

const limit: RouteParameter = {
  name: 'limit',
  in: 'query',
  description: `Maximum number of sessions on the page. A value above ${PAGE_LIMIT_MAX} counts as ${PAGE_LIMIT_MAX}.`,
  schema: { type: 'integer', minimum: 0, default: PAGE_LIMIT_DEFAULT },
};

const pageParameters = [
  evalName,
  failedOnly,
  startFilter('started_after', 'later', '2026-11-20T00:00:00Z'),
  startFilter('started_before', 'earlier', '2026-11-21T00:00:00Z'),
  includeTraces,
  skip,
  limit,
] as const;

const PAGES =
  'The newest session comes first. To read all pages, repeat the request with a larger `skip` until `skip` plus the ' +
  'number of items reaches `total`. The specification leaves the success status open; the service sends 200.';

const pageErrors = {
  400: {
    ...refuse(
      'A parameter has an invalid value or is repeated.',
      'skip must be a whole number of 0 or more, got "-1".',
    ),
    isExtension: true,
  },
  ...commonErrors,
  429: rateLimited,
} as const;

/** The endpoints of the evaluation service (spec 4.1 to 4.4). The key is the operation id. */
export const serviceRoutes = {
  sendTraces: {
    method: 'POST',
    path: '/v1/traces',
    tag: 'traces',
    summary: 'Send traces: OTLP over HTTP, JSON or protobuf, gzip or uncompressed',
    description:
      'Stores the spans of production conversations. Any OpenTelemetry exporter for OTLP over HTTP can send ' +
      'them. A span that is sent again is not stored twice. Spans without `gen_ai.operation.name` are ' +
      `ignored. Limits: ${INGEST_BODY_BYTES_MAX} bytes (10 MB), as sent and decompressed, and ` +
      `${INGEST_REQUESTS_PER_MINUTE_MAX} requests per minute and key (spec 8).`,
    spec: '2.1, 4.1',
    hasKey: true,
    parameters: [
      {
        name: 'X-Conversation-Id',
        in: 'header',
        description:
          'Conversation of the spans that have no `gen_ai.conversation.id`. The service of the kit accepts ' +
          `1 to ${CONVERSATION_ID_LENGTH_MAX} characters, and at most ${CONVERSATION_ID_BYTES_MAX} bytes in UTF-8.`,
        schema: { type: 'string', minLength: 1 },
        example: 'conv-1',
      },
      {
        name: 'Content-Encoding',
        in: 'header',
        description: 'Present if the body is compressed.',
        schema: { type: 'string', enum: ['gzip'] },
      },
    ],
    body: {
      [JSON_TYPE]: { message: 'TraceExportRequest' },
      [PROTOBUF_TYPE]: {
        bytes:
          'The message `ExportTraceServiceRequest` of OTLP. `schemas/otlp-trace.proto` has the fields that the service reads.',
      },
    },
    responses: {
      200: {
        description:
          'All spans are stored durably, except for those that `partialSuccess` counts. The response has the format of the request.',
        content: {
          [JSON_TYPE]: { message: 'TraceExportResponse' },
          [PROTOBUF_TYPE]: {
            bytes:
              'The message `ExportTraceServiceResponse`: no bytes, or `partial_success` with the number of rejected spans.',
          },
        },
      },
      400: refuse(
        'No span has a conversation id and the request has no `X-Conversation-Id` (spec 7), or the body is malformed.',
        'The request has no conversation id: no span with gen_ai.operation.name has a gen_ai.conversation.id, and there is no X-Conversation-Id header. Set the attribute on the spans, or send the header.',
      ),
      ...commonErrors,
      408: {
        ...refuse(
          'The body was not complete in time.',
          'The body was not complete within 60 s. Send smaller batches, or send faster.',
        ),
        isExtension: true,
      },
      413: refuse(
        'The body is larger than 10 MB (spec 7). Configure the exporter to send smaller batches.',
        `The body is larger than ${INGEST_BODY_BYTES_MAX} bytes (10 MB, decompressed). Configure the exporter to send smaller batches.`,
      ),
      415: refuse(
        'The content type is neither JSON nor protobuf (spec 7), or the encoding of the body is not gzip.',
        'Content-Type must be application/json or application/x-protobuf, got "text/plain".',
      ),
      429: {
        ...refuse(
          `More than ${INGEST_REQUESTS_PER_MINUTE_MAX} requests per minute with the key (spec 5, 7).`,
          `This API key sent more than ${INGEST_REQUESTS_PER_MINUTE_MAX} requests within a minute. Retry in 12 s, and configure the exporter to send larger batches.`,
        ),
        headers: retryAfter(true),
      },
    },
  },
  endConversation: {
    method: 'POST',
    path: '/v1/sessions/{conversation_id}/end',
    tag: 'conversations',
    summary: 'Close a conversation and queue its evals',
    description:
      'Send this request after the last span of the conversation. It has no body. A repeated request queues no ' +
      'evals and gets `already_closed`. Without this request, the service closes the conversation after 24 h ' +
      'without activity. The results usually follow within seconds.',
    spec: '2.3, 3.1, 4.2',
    hasKey: true,
    parameters: [
      {
        name: 'conversation_id',
        in: 'path',
        description: 'The `gen_ai.conversation.id` of the spans.',
        schema: { type: 'string', minLength: 1 },
        example: 'conv-1',
      },
    ],
    responses: {
      200: { description: 'The conversation is closed.', content: json('ClosedConversation') },
      ...commonErrors,
      404: refuse(
        'No conversation of this API key has this id (spec 7).',
        'There is no conversation "conv-1". Use the gen_ai.conversation.id of spans that were sent with the same API key.',
      ),
      429: rateLimited,
    },
  },
  listProductionSessions: {
    method: 'GET',
    path: '/api/prod-evaluations/sessions/',
    tag: 'results',
    summary: 'List the results of production conversations',
    description: `Returns the evaluated conversations, from live traces and from uploaded transcripts. Conversations without an outcome are omitted. ${PAGES}`,
    spec: '2.5, 2.6, 4.4',
    hasKey: true,
    parameters: [
      {
        name: 'run',
        in: 'query',
        description: 'Only sessions of runs whose name contains this text, in any case.',
        schema: { type: 'string' },
        example: 'live traces',
      },
      ...pageParameters,
    ],
    responses: {
      200: { description: 'A page of sessions.', content: json('ProductionSessionPage') },
      ...pageErrors,
    },
  },
  listSimulationSessions: {
    method: 'GET',
    path: '/api/simulations/sessions/',
    tag: 'results',
    summary: 'List the results of simulations',
    description: `Returns the sessions where simulated users talked to an agent. ${PAGES}`,
    spec: '2.4, 2.6, 4.3',
    hasKey: true,
    parameters: [
      {
        name: 'agent',
        in: 'query',
        description: 'Only sessions of agents whose name or URL contains this text, in any case.',
        schema: { type: 'string' },
        example: 'shop',
      },
      ...pageParameters,
    ],
    responses: {
      200: { description: 'A page of sessions.', content: json('SimulationSessionPage') },
      ...pageErrors,
    },
  },
} as const satisfies Routes;
