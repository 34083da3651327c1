/** End calls for conversations that the service does not know (spec 2.1, 3.1, 7). */
import type { Check } from '../../../engine/checks/check.ts';
import { checkRefused } from '../../../engine/checks/responses.ts';
import {
  changeResponse,
  jsonResponse,
  replaceParts,
  respondInstead,
  to,
} from '../../../engine/mutants/combinators.ts';
import type { Transform } from '../../../engine/mutants/mutant.ts';
import type { Subject } from '../../../engine/requirement.ts';
import { requirePlainRight } from '../findings.ts';
import type { EndStep } from '../steps.ts';
import { conversationIdIn } from '../transforms.ts';
import { CLOSE_OF_IGNORED, notClosed } from './evidence.ts';
import { IGNORED_SPAN } from './planned-conversations.ts';

const end = to('end');

/** Matches an end call for the id of a conversation of the run without its last character. */
const PREFIX_PATH = /\/sk-[a-z0-9]{8}-[a-z0-9]{7}\/end$/;

const WHOLE_ID_HINT =
  'Compare whole ids byte by byte, and return 404 if no conversation has exactly this id.';

const acceptedHints: Readonly<Partial<Record<EndStep, string>>> = {
  'prefix of a known id': WHOLE_ID_HINT,
  'known id in other case': WHOLE_ID_HINT,
};

export const unknownConversations: Subject = {
  requirements: {
    'SERVICE-048': {
      rule: '`POST /v1/sessions/{id}/end` returns 404 for an unknown conversation.',
      section: '7',
      statements: ['3.1.19', '3.1.20', '4.2.6', '7.a3'],
      reason: 'The client would not notice that its spans never arrived.',
      observability: 'provoked',
      probes: ['service/refusals'],
      check: refusesUnknown('unknown', 'unknown again', 'prefix of a known id'),
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
        'known-by-prefix': {
          description: 'Closes a conversation whose id begins with the given one.',
          transform: respondInstead(
            to('end', ({ path }) => PREFIX_PATH.test(path)),
            ({ path }) => jsonResponse(200, { conversation_id: path, status: 'evaluating' }),
          ),
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
  },
};

/** Requires 404 for the end calls of a conversation without spans. */
export function refusesUnknown(...steps: EndStep[]): Check {
  const hintsOf = (step: EndStep) => ({
    accepted:
      acceptedHints[step] ?? 'Close only conversations that have spans, and return 404 for others.',
    crashed:
      'Look the conversation up before you close it, and respond with 404 if it has no spans.',
  });
  return checkRefused(
    'end',
    steps,
    404,
    notClosed,
    Object.fromEntries(steps.map((step) => [step, hintsOf(step)])),
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
