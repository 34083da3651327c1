/** The response to `POST /v1/sessions/{id}/end` (spec 2.3, 4.2). */
import { formatValue, resolvePointer } from '../../../../src/contract/index.ts';
import { checkEach, unjudgedAs, type Check } from '../../../engine/checks/check.ts';
import { checkAccepted, checkRefused } from '../../../engine/checks/responses.ts';
import {
  changeResponse,
  drop,
  editAccepted,
  isAccepted,
  jsonResponse,
  replaceParts,
  respondInstead,
  set,
  to,
  type Edit,
} from '../../../engine/mutants/combinators.ts';
import type { ProxyRequest, Transform } from '../../../engine/mutants/mutant.ts';
import type { DistortionEntry, RequirementId, Subject } from '../../../engine/requirement.ts';
import type { Exchange } from '../../../engine/transcript/reading.ts';
import { fieldsOf, missing } from '../../fields.ts';
import { wrongValue } from '../findings.ts';
import type { ResultsObject } from '../results-api.ts';
import { conversationIdOf, isConversationAccepted, isStep } from '../transcript.ts';
import { emptyTraceResponse, errorResponse } from '../transforms.ts';
import {
  idCloses,
  isClosed,
  isFirstClose,
  isScoringClose,
  laterCloses,
  notClosed,
} from './evidence.ts';

const end = to('end');

/** Closes of conversations that were not sent as plain JSON. */
const encodedCloses: readonly string[] = ['close protobuf', 'close gzip', 'close gzip protobuf'];
/** Closes that other requirements judge than the one for a plain close. */
const specialCloses: readonly string[] = [
  'close again',
  'close header',
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
  unjudged: unjudgedAs('not_observed', 'No close response queued any evals.'),
} as const;
const fieldOfScoringClose = fieldsOf({ ...closed, filter: isScoringClose });
const fieldOfFirstClose = fieldsOf({ ...closed, filter: isFirstClose });

const replies = (description: string, edit: Edit): DistortionEntry => ({
  description,
  transform: editAccepted('end', edit),
});

const onRepeatedClose =
  (edit: Edit): Edit =>
  (body, request) => {
    if (body['already_closed'] !== undefined) edit(body, request);
  };

const everyClose: readonly RequirementId[] = [
  'SERVICE-040',
  'SERVICE-045',
  'SERVICE-105',
  'SERVICE-106',
];

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
        'conversation-id-missing': replies('Omits conversation_id.', drop('/conversation_id')),
        'conversation-id-other': replies(
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
    'SERVICE-045': {
      rule: 'A repeated `POST /v1/sessions/{id}/end` returns `already_closed: true`.',
      statements: ['2.3.7', '3.1.10', '3.1.11'],
      reason: 'A client that retries would not learn that its first call closed the conversation.',
      observability: 'provoked',
      check: marksRepeatedClose(),
      mutants: {
        'repeat-not-told': replies(
          'Omits already_closed on a repeated call.',
          drop('/already_closed'),
        ),
        'repeat-false': replies(
          'Returns already_closed: false on a repeated call.',
          onRepeatedClose(set('/already_closed', false)),
        ),
        'repeat-409': {
          description: 'Refuses a repeated end call.',
          transform: changeResponse(end, (response) =>
            response.body.includes('already_closed') ? errorResponse(409) : response,
          ),
        },
      },
      legal: {
        'end-repeat-count': replies(
          'Returns the original evaluations_queued on a repeated end call.',
          (body) => {
            if (body['already_closed'] === true) body['evaluations_queued'] = 2;
          },
        ),
        'end-repeat-brief': {
          description: 'Returns only already_closed and conversation_id on a repeated end call.',
          transform: changeResponse(end, (response) => {
            if (!response.body.includes('already_closed')) return response;
            const { conversation_id: id } = JSON.parse(response.body) as ResultsObject;
            return jsonResponse(200, { already_closed: true, conversation_id: id });
          }),
        },
      },
    },
    'SERVICE-046': {
      rule: 'The first `POST /v1/sessions/{id}/end` does not return `already_closed: true`.',
      statements: ['2.3.7'],
      reason: 'The client would believe that someone else had closed the conversation too early.',
      check: doesNotMarkFirstClose(),
      mutants: {
        'first-told-as-repeat': replies(
          'Returns already_closed: true on the first call.',
          set('/already_closed', true),
        ),
      },
      legal: {
        'end-first-false': replies(
          'Returns already_closed: false on the first end call.',
          (body) => {
            body['already_closed'] ??= false;
          },
        ),
      },
    },
    'SERVICE-048': {
      rule: '`POST /v1/sessions/{id}/end` returns 404 for an unknown conversation.',
      section: '7',
      statements: ['3.1.19', '3.1.20', '4.2.6', '7.a3'],
      reason: 'The client would not notice that its spans never arrived.',
      observability: 'provoked',
      probes: ['service/refusals'],
      check: checkRefused('end', ['unknown'], 404, notClosed, {
        unknown: {
          accepted: 'Close only conversations that have spans, and return 404 for others.',
        },
      }),
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
      },
    },
    'SERVICE-105': {
      rule: '`POST /v1/sessions/{id}/end` closes a conversation that was named only by `X-Conversation-Id`.',
      section: '4.1',
      statements: ['2.1.3', '4.1.6'],
      reason: 'The accepted spans would belong to no conversation and never be scored.',
      check: closes((exchange) => isStep(exchange, 'end', 'close header')),
      mutants: {
        'header-id-other': {
          description: 'Replaces the id in X-Conversation-Id by an internal one.',
          transform: replaceHeaderId,
        },
      },
    },
    'SERVICE-106': {
      rule: '`POST /v1/sessions/{id}/end` closes a conversation that was sent as protobuf or gzip.',
      statements: ['4.1.4', '4.1.7'],
      reason: 'The service would accept the spans and lose them.',
      check: closes((exchange) => isStep(exchange, 'end', ...encodedCloses)),
      mutants: {
        'bytes-lost': {
          description: 'Accepts protobuf and gzip but stores nothing.',
          transform: respondInstead(isProtobufOrGzip, () => emptyTraceResponse),
        },
      },
    },
  },
  mutants: {
    'end-204': {
      description: 'Returns an empty 204 response to end calls.',
      kills: everyClose,
      transform: replaceParts(end, { status: 204, headers: {}, body: '' }, isAccepted),
    },
    'end-text': {
      description: 'Returns the text OK to end calls.',
      kills: everyClose,
      transform: replaceParts(end, { body: 'OK' }, isAccepted),
    },
    'end-not-there': {
      description: 'Does not implement end calls.',
      kills: everyClose,
      transform: respondInstead(end, () => errorResponse(404)),
    },
  },
  legal: {
    'end-201': {
      description: 'Returns 201 to end calls.',
      transform: replaceParts(end, { status: 201 }, ({ status }) => status === 200),
    },
    'end-unscored': replies('Returns status closed and no run when nothing is queued.', (body) => {
      if (body['evaluations_queued'] !== 0) return;
      body['status'] = 'closed';
      Reflect.deleteProperty(body, 'run');
    }),
  },
};

/** Requires a JSON object for end calls whose spans were accepted. */
function closes(matches: (exchange: Exchange) => boolean): Check {
  const check = checkAccepted('end', () => true, notClosed);
  return {
    ...check,
    evidence: (transcript) =>
      check
        .evidence(transcript)
        .filter(
          (exchange) =>
            matches(exchange) && isConversationAccepted(conversationIdOf(exchange), transcript),
        ),
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

function marksRepeatedClose(): Check {
  const repeated = closes((exchange) => isStep(exchange, 'end', 'close again'));
  return {
    ...repeated,
    judge: (evidence, transcript) => [
      ...repeated.judge(evidence, transcript),
      ...evidence
        .filter(
          (exchange) =>
            isClosed(exchange) && resolvePointer(exchange.json, '/already_closed') !== true,
        )
        .map((exchange) => wrongValue(exchange, '/already_closed', 'true')),
    ],
  };
}

function doesNotMarkFirstClose(): Check {
  return checkEach(
    isFirstClose,
    (exchange) =>
      resolvePointer(exchange.json, '/already_closed') === true
        ? [wrongValue(exchange, '/already_closed', 'absent or false')]
        : [],
    notClosed,
  );
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

function isProtobufOrGzip({ endpoint, headers }: ProxyRequest): boolean {
  return (
    endpoint === 'traces' &&
    /protobuf|gzip/.test(`${headers['content-type']} ${headers['content-encoding']}`)
  );
}
