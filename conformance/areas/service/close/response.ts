/** The response to `POST /v1/sessions/{id}/end` (spec 2.3, 4.2). */
import {
  formatValue,
  resolvePointer,
  SERVICE_API_KEY_HEADER,
} from '../../../../src/contract/index.ts';
import { checkEach, outcomeFinding, type Check } from '../../../engine/checks/check.ts';
import { checkRefused } from '../../../engine/checks/responses.ts';
import {
  changeResponse,
  drop,
  isSuccess,
  jsonResponse,
  replaceParts,
  respondInstead,
  set,
  to,
  withBody,
} from '../../../engine/mutants/combinators.ts';
import type { ProxyRequest, Transform } from '../../../engine/mutants/mutant.ts';
import type { RequirementId, Subject } from '../../../engine/requirement.ts';
import { isRateLimited } from '../../../engine/transcript/reading.ts';
import { fieldsOf, missing } from '../../fields.ts';
import { requireControlApi, requirePlainRight, wrongValue, needsScores } from '../findings.ts';
import type { EndStep } from '../steps.ts';
import { accepts } from '../traces/trace-requests.ts';
import { conversationIdOf, isConversationAccepted, isStep, sessionsById } from '../transcript.ts';
import {
  conversationIdIn,
  conversationIdsIn,
  emptyTraceResponse,
  matchFurtherKeys,
  refusal,
} from '../transforms.ts';
import { doesNotMarkFirstClose, marksRepeatedClose } from './already-closed.ts';
import {
  CLOSE_OF_IGNORED,
  CLOSE_OF_LEFT_OPEN,
  CLOSE_WITH_SECOND_KEY,
  CLOSED_LAST,
  closes,
  editCloses,
  idCloses,
  isClosed,
  isFirstClose,
  isScoringClose,
  laterCloses,
  LEFT_OPEN_SUBJECT,
  notClosed,
  requirePlainClose,
} from './evidence.ts';
import { IGNORED_SPAN } from './planned-conversations.ts';

const end = to('end');

/** Closes of conversations that were not sent as plain JSON. */
const encodedCloses: readonly EndStep[] = [
  'close protobuf',
  'close gzip',
  'close gzip protobuf',
  `close ${CLOSED_LAST}`,
];
/** Closes that other requirements judge than the one for a plain close. */
const specialCloses: readonly EndStep[] = [
  'close again',
  'close header',
  'close attribute and header',
  'close first of two',
  'close second of two',
  ...encodedCloses,
  ...laterCloses,
  ...idCloses,
];

const closed = {
  endpoint: 'end',
  message: 'ClosedConversation',
  noun: 'close response',
  unjudged: needsScores('No close response queued any evals.'),
} as const;
const fieldOfScoringClose = fieldsOf({ ...closed, filter: isScoringClose });
const fieldOfFirstClose = fieldsOf({ ...closed, filter: isFirstClose });

const everyClose: readonly RequirementId[] = ['SERVICE-040'];

export const closeResponse: Subject = {
  requirements: {
    'SERVICE-040': {
      rule: '`POST /v1/sessions/{id}/end` without a body returns a JSON object with a 2xx status for a known conversation.',
      section: '4.2',
      statements: ['1.9', '3.1.4', '4.2.1', '4.2.2', '4.2.3', '4.2.4', '4.2.5', '9.1'],
      reason: 'The conversation would be scored only after 24 hours without activity.',
      probes: ['service/conversations'],
      check: closes((exchange) => !isStep(exchange, 'end', ...specialCloses)),
    },
    'SERVICE-041': {
      rule: '`conversation_id` in the close response is the id of the closed conversation.',
      statements: ['2.3.1', '2.3.2', '4.2.2'],
      reason: 'A client that closes many conversations cannot match the responses to them.',
      check: returnsConversationId(),
      mutants: {
        'conversation-id-missing': editCloses('Omits conversation_id.', drop('/conversation_id')),
        'conversation-id-other': editCloses(
          'Returns an internal id as conversation_id.',
          set('/conversation_id', 'conv-1'),
        ),
      },
    },
    'SERVICE-042': fieldOfScoringClose('/status', {
      rule: '`status` in the close response is `evaluating`.',
      statements: ['2.3.3', '3.1.5'],
      reason: 'Clients wait for results only if they read this status.',
      wrong: {
        'status-closed': ['Returns status closed.', 'closed'],
        'status-missing': ['Omits status.', missing],
      },
    }),
    'SERVICE-043': fieldOfScoringClose('/run', {
      rule: '`run` in the close response is a string.',
      statements: ['2.3.4'],
      reason: 'Clients use the run name to filter the results.',
      wrong: {
        'run-missing': ['Omits run.', missing],
        'run-null': ['Returns null as run.', null],
      },
    }),
    'SERVICE-044': fieldOfFirstClose('/evaluations_queued', {
      rule: '`evaluations_queued` in the close response is an integer of 0 or more.',
      statements: ['2.3.6'],
      reason: 'Clients wait until this many evaluations are in the results.',
      wrong: {
        'queued-text': ['Returns evaluations_queued as a string.', '2'],
        'queued-missing': ['Omits evaluations_queued.', missing],
      },
    }),
    'SERVICE-229': {
      level: 'should',
      rule: 'Every key of an owner can close the conversations of the owner.',
      statements: ['5.a3'],
      reason: 'A customer who replaces the key could not close the conversations that are open.',
      observability: 'provoked',
      probes: ['service/conversations'],
      check: closesWithSecondKey(),
      mutants: {
        'closes-with-first-key': {
          description: 'Knows a conversation only with the first key of its owner.',
          transform: refuseFurtherKeys,
        },
      },
    },
    'SERVICE-048': {
      rule: '`POST /v1/sessions/{id}/end` returns 404 for an unknown conversation.',
      section: '7',
      statements: ['3.1.19', '3.1.20', '4.2.6', '7.a3'],
      reason: 'The client would not notice that its spans never arrived.',
      observability: 'provoked',
      probes: ['service/refusals'],
      check: refusesUnknown('unknown', 'unknown again'),
      mutants: {
        'unknown-200': {
          description: 'Closes unknown conversations.',
          transform: changeResponse(end, (response) =>
            response.status === 404 ? jsonResponse(200, { status: 'evaluating' }) : response,
          ),
        },
        'unknown-400': {
          description: 'Refuses unknown conversations with 400.',
          transform: replaceParts(end, { status: 400 }, ({ status }) => status === 404),
        },
        'unknown-created': {
          description: 'Creates an unknown conversation on the first end call.',
          transform: createOnEndCall,
        },
      },
    },
    'SERVICE-199': {
      rule: 'Spans without `gen_ai.operation.name` create no conversation: an end call for their id gets 404.',
      section: '2.1',
      statements: ['2.1.r2', '3.1.19', '3.1.20'],
      reason: 'Each request of a web server would look like a conversation without turns.',
      observability: 'provoked',
      probes: ['service/conversations'],
      check: requirePlainRight([refusesUnknown('unknown')], refusesUnknown(CLOSE_OF_IGNORED)),
      mutants: {
        'nameless-conversation': {
          description: 'Creates a conversation for spans without an operation name.',
          transform: createFromIgnoredSpans,
        },
      },
    },
    'SERVICE-181': {
      rule: 'A conversation without an end call stays open: it has no results, and the first end call closes it.',
      section: '3.1',
      statements: ['2.3.7', '3.1.4', '3.1.6', '3.1.8'],
      reason: 'Turns that arrive after the close would not be scored.',
      observability: 'provoked',
      probes: ['service/production'],
      check: requirePlainClose(requirePlainRight([doesNotMarkFirstClose()], staysOpen())),
      mutants: {
        'closes-by-itself': {
          description: 'Closes a conversation although no client has ended it.',
          transform: closeByItself,
        },
        'forgets-open': {
          description: 'Forgets a conversation that is open for some seconds.',
          transform: forgetOpen,
        },
      },
    },
    'SERVICE-105': {
      rule: '`POST /v1/sessions/{id}/end` closes a conversation that was named only by `X-Conversation-Id`.',
      section: '4.1',
      statements: ['2.1.3', '4.1.6'],
      reason: 'The accepted spans would belong to no conversation and never be scored.',
      check: requirePlainClose(closes((exchange) => isStep(exchange, 'end', 'close header'))),
      mutants: {
        'header-id-other': {
          description: 'Replaces the id in X-Conversation-Id with an internal one.',
          transform: replaceHeaderId,
        },
      },
    },
    'SERVICE-166': {
      rule: '`X-Conversation-Id` does not replace the `gen_ai.conversation.id` of a span.',
      section: '4.1',
      statements: ['2.1.3', '4.1.6'],
      reason: 'An exporter that sends one header for many conversations would merge all of them.',
      observability: 'provoked',
      probes: ['service/conversations'],
      check: keepsAttribute(),
      mutants: {
        'header-before-attribute': {
          description: 'Prefers X-Conversation-Id to the attribute of the span.',
          transform: preferHeaderId,
        },
      },
    },
    'SERVICE-106': {
      rule: '`POST /v1/sessions/{id}/end` closes a conversation that was sent as protobuf or gzip.',
      statements: ['4.1.4', '4.1.7'],
      reason: 'The service would accept the spans and lose them.',
      check: requirePlainClose(closes((exchange) => isStep(exchange, 'end', ...encodedCloses))),
      mutants: {
        'bytes-lost': {
          description: 'Accepts protobuf and gzip but stores nothing.',
          transform: respondInstead(isProtobufOrGzip, () => emptyTraceResponse),
          alsoKills: ['SERVICE-190'],
        },
      },
    },
  },
  mutants: {
    'end-204': {
      description: 'Returns an empty 204 response to end calls.',
      kills: everyClose,
      transform: replaceParts(end, { status: 204, headers: {}, body: '' }, isSuccess),
    },
    'end-text': {
      description: 'Returns the text OK to end calls.',
      kills: everyClose,
      transform: replaceParts(end, { body: 'OK' }, isSuccess),
    },
    'end-not-there': {
      description: 'Does not implement end calls.',
      kills: everyClose,
      transform: respondInstead(end, () => refusal(404)),
    },
  },
  legal: {
    'end-201': {
      description: 'Returns 201 to end calls.',
      transform: replaceParts(end, { status: 201 }, ({ status }) => status === 200),
    },
    'end-unscored': editCloses(
      'Returns status closed and no run when nothing is queued.',
      (body) => {
        if (body['evaluations_queued'] !== 0 || body['already_closed'] === true) return;
        body['status'] = 'closed';
        Reflect.deleteProperty(body, 'run');
      },
    ),
  },
};

/** Requires 404 for the end calls of a conversation without spans. */
function refusesUnknown(...steps: EndStep[]): Check {
  const hints = {
    accepted: 'Close only conversations that have spans, and return 404 for others.',
    crashed:
      'Look the conversation up before you close it, and respond with 404 if it has no spans.',
  };
  return checkRefused(
    'end',
    steps,
    404,
    notClosed,
    Object.fromEntries(steps.map((step) => [step, hints])),
  );
}

/** Accepts end calls for conversations whose only spans have no operation name. */
function createFromIgnoredSpans(): Transform {
  let ignoredId: string | undefined;
  return async (request, forward) => {
    const { endpoint, body, path } = request;
    const isAlone = body.includes(IGNORED_SPAN) && !body.includes('gen_ai.operation.name');
    if (endpoint === 'traces' && isAlone) ignoredId = conversationIdIn(body);
    const id = conversationIdIn(path);
    return endpoint === 'end' && id !== undefined && id === ignoredId
      ? jsonResponse(200, { conversation_id: id, status: 'evaluating', evaluations_queued: 0 })
      : forward(request);
  };
}

function returnsConversationId(): Check {
  return checkEach(
    (exchange) => isClosed(exchange) && !isStep(exchange, 'end', ...idCloses),
    (exchange) => {
      const id = conversationIdOf(exchange);
      if (resolvePointer(exchange.json, '/conversation_id') === id) return [];
      return [wrongValue(exchange, '/conversation_id', formatValue(id))];
    },
    notClosed,
  );
}

/** Requires a JSON object for an end call with another key than that of the spans. */
function closesWithSecondKey(): Check {
  const check = closes((exchange) => isStep(exchange, 'end', CLOSE_WITH_SECOND_KEY));
  return requirePlainClose(
    requirePlainRight([marksRepeatedClose('close again')], {
      ...check,
      unjudged: requireControlApi(notClosed),
    }),
  );
}

/** Responds with 404 to end calls with a key of an owner other than the first one. */
function refuseFurtherKeys(): Transform {
  const isRefused = matchFurtherKeys();
  return async (request, forward) =>
    isRefused(request) && request.endpoint === 'end' ? refusal(404) : forward(request);
}

const STAYS_OPEN_HINT =
  'Close a conversation only on its end call, or after 24 hours without spans.';

/** Requires that a conversation was neither closed nor scored before its only end call. */
function staysOpen(): Check {
  return checkEach(
    (exchange, transcript) =>
      isStep(exchange, 'end', CLOSE_OF_LEFT_OPEN) &&
      exchange.response !== undefined &&
      !isRateLimited(exchange) &&
      isConversationAccepted(conversationIdOf(exchange), transcript),
    (close, { exchanges }) => {
      const id = conversationIdOf(close);
      if (!isClosed(close)) {
        const expected = `a 2xx response, because ${formatValue(id)} was sent and not closed`;
        return [outcomeFinding(close, expected)];
      }
      const page = exchanges.find(
        (exchange) => exchange.id < close.id && sessionsById(exchange, id).length > 0,
      );
      if (page) {
        const expected = `no results of ${formatValue(id)} before its end call`;
        return [{ ...wrongValue(page, '/items', expected, 'listed'), hint: STAYS_OPEN_HINT }];
      }
      if (resolvePointer(close.json, '/already_closed') !== true) return [];
      const expected = 'absent or false, because it is the first end call';
      return [{ ...wrongValue(close, '/already_closed', expected), hint: STAYS_OPEN_HINT }];
    },
    notClosed,
  );
}

/** Ends a conversation as soon as its spans have arrived. */
function closeByItself(): Transform {
  return async (request, forward) => {
    const response = await forward(request);
    if (request.endpoint !== 'traces' || !request.body.includes(LEFT_OPEN_SUBJECT)) return response;
    const key = request.headers[SERVICE_API_KEY_HEADER] ?? '';
    await forward({
      endpoint: 'end',
      method: 'POST',
      body: '',
      json: undefined,
      path: `/v1/sessions/${conversationIdIn(request.body) ?? ''}/end`,
      headers: { [SERVICE_API_KEY_HEADER]: key },
      connection: request.connection,
    });
    return response;
  };
}

/** Creates a conversation on the first end call for it, which gets 404. */
function createOnEndCall(): Transform {
  const created = new Set<string>();
  return async (request, forward) => {
    const response = await forward(request);
    if (request.endpoint !== 'end' || response.status !== 404) return response;
    if (created.has(request.path)) return jsonResponse(200, { status: 'evaluating' });
    created.add(request.path);
    return response;
  };
}

/** Responds with 404 to the end call of the conversation that was open for longest. */
function forgetOpen(): Transform {
  let openId: string | undefined;
  return async (request, forward) => {
    const { endpoint, body, path } = request;
    if (endpoint === 'traces' && body.includes(LEFT_OPEN_SUBJECT)) openId = conversationIdIn(body);
    const isForgotten = endpoint === 'end' && openId !== undefined && path.includes(openId);
    return isForgotten ? refusal(404) : forward(request);
  };
}

/** Requires that spans with their own id are accepted next to another id in the header, and keep it. */
function keepsAttribute(): Check {
  const accepted = accepts((exchange) => isStep(exchange, 'traces', 'attribute and header'));
  const closed = closes((exchange) => isStep(exchange, 'end', 'close attribute and header'));
  const plain = [
    accepts((exchange) => isStep(exchange, 'traces', 'json')),
    closes((exchange) => isStep(exchange, 'end', 'close json')),
  ];
  return requirePlainRight(plain, {
    evidence: (transcript) => [...accepted.evidence(transcript), ...closed.evidence(transcript)],
    judge: (evidence, transcript) => [
      ...accepted.judge(
        evidence.filter(({ endpoint }) => endpoint === 'traces'),
        transcript,
      ),
      ...closed.judge(
        evidence.filter(({ endpoint }) => endpoint === 'end'),
        transcript,
      ),
    ],
    unjudged: notClosed,
  });
}

function replaceHeaderId(): Transform {
  return async (request, forward) => {
    const { headers } = request;
    const hasId = headers['x-conversation-id'] !== undefined;
    return forward(
      hasId ? { ...request, headers: { ...headers, 'x-conversation-id': 'other' } } : request,
    );
  };
}

function preferHeaderId(): Transform {
  return async (request, forward) => {
    const id = request.headers['x-conversation-id'];
    const hasAttribute = request.body.includes('gen_ai.conversation.id');
    const [sentId] = hasAttribute ? conversationIdsIn(request.body) : [];
    if (id === undefined || sentId === undefined || id === sentId) return forward(request);
    return forward(withBody(request, request.body.replaceAll(sentId, id)));
  };
}

function isProtobufOrGzip({ endpoint, headers }: ProxyRequest): boolean {
  return (
    endpoint === 'traces' &&
    /protobuf|gzip/.test(`${headers['content-type']} ${headers['content-encoding']}`)
  );
}
