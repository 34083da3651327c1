/** The valid chat requests succeed: of any legal form, after malformed ones, and concurrently. */
import { listAt } from '../../../src/contract/index.ts';
import { isObject } from '../../../src/platform/json.ts';
import type { Check } from '../../engine/checks/check.ts';
import { requireSurvival } from '../../engine/checks/crashes.ts';
import { checkNoServerError } from '../../engine/checks/responses.ts';
import { to, type When } from '../../engine/mutants/combinators.ts';
import { errorResponse, refuseInstead } from '../sandbox-responses.ts';
import type { ProxyRequest, TransformFactory } from '../../engine/mutants/mutant.ts';
import {
  hasOtherKeys,
  hasWrongKey,
  messagesTextOf,
  stringAt,
} from '../../engine/mutants/requests.ts';
import type { Subject } from '../../engine/requirement.ts';
import { type Exchange, isAccepted, isRateLimited } from '../../engine/transcript/reading.ts';
import { showsOverlap } from '../../engine/transcript/repetitions.ts';
import { defineAccepted } from '../accepted.ts';
import {
  breakAfterMalformedJson,
  failEverySeventh,
  HANG_MS,
  SURVIVAL_REASON,
} from '../failures.ts';
import { onTwins } from '../twins.ts';
import { noReply } from './replies.ts';
import { malformed } from './malformed.ts';
import { requestFields } from './request-fields.ts';
import { requestMessages } from './request-messages.ts';
import { CHAT_BODY_BYTES, chatProperties, formerChatProperties } from './request-properties.ts';
import { isChatStep, REFERENCE_PHRASE, SAME_SESSION } from './requests.ts';
import { sessionOf } from './sessions.ts';

/** Whether a request is one of the concurrent ones. */
const overlaps: When = (request) => messagesTextOf(request).includes(REFERENCE_PHRASE);

/** Whether a request is well-formed, unlike the malformed requests that the probes send. */
const isValid: When = (request) => isObject(request.json) && !malformed.isMalformed(request);

const sessionIfValid = (request: ProxyRequest): string | undefined =>
  isValid(request) ? sessionOf(request) : undefined;

const isOtherTurn = isChatStep('turn', 'overlap');
const isRefusedTurn = (exchange: Exchange): boolean =>
  isOtherTurn(exchange) && !isAccepted(exchange) && !isRateLimited(exchange);

/** Judges concurrent requests of one session only if further turns and other sessions succeed. */
const ifOthersSucceed = (check: Check): Check => ({
  ...check,
  evidence: (transcript) =>
    transcript.exchanges.some(isRefusedTurn) ? [] : check.evidence(transcript),
  unjudged(transcript) {
    const failed = transcript.exchanges.find(isRefusedTurn);
    if (!failed) return check.unjudged(transcript);
    const reason = `A further turn or another session was not accepted (exchange ${failed.id}).`;
    return { verdict: 'blocked', reason };
  },
});

const accepted = defineAccepted(
  {
    endpoint: 'chat',
    properties: [...chatProperties, ...formerChatProperties],
    reason:
      'The service may omit optional fields; a sandbox that requires them ends the simulation.',
  },
  {
    ...requestFields,
    ...requestMessages,
    'CHAT-013': {
      rule: 'A valid chat request succeeds after malformed ones, and after a wrong key on the same connection.',
      statements: ['4.5.4', '4.5.5'],
      reason: SURVIVAL_REASON,
      probes: ['chat/after'],
      steps: ['after refusals'],
      plain: 'full',
      wrapCheck: (check) => requireSurvival('chat', check),
      mutants: {
        'dies-of-malformed-json': {
          description: 'Responds with 500 to every valid request after one that was not JSON.',
          transform: breakAfterMalformedJson(to('chat', isValid), () =>
            errorResponse(500, 'server_error'),
          ),
          alsoKills: ['CHAT-016'],
        },
        'hangs-after-malformed-json': {
          description: 'Never responds to a new session after a request that was not JSON.',
          transform: hangAfterMalformedJson,
          clockFactor: 15,
          alsoKills: ['CHAT-016'],
        },
        'leaves-refused-bodies': {
          description:
            'Reads the body of a request with a wrong key as the next request on the connection.',
          transform: leaveRefusedBodies,
        },
      },
    },
    'CHAT-018': {
      rule: `A chat request with a body of ${CHAT_BODY_BYTES / 1024} kB succeeds.`,
      statements: ['2.7.9', '2.7.4', '4.5.4'],
      reason:
        'Every turn sends the whole conversation and the context of the scenario; a small limit ends long simulations.',
      probes: ['chat/generated'],
      plain: 'full',
      mutants: {
        'refuses-32-kilobytes': {
          description: 'Refuses bodies of more than 32 kB.',
          transform: refuseInstead(to('chat', ({ body }) => body.length > 32_768)),
        },
      },
    },
    'CHAT-017': {
      level: 'should',
      rule: 'Concurrent chat requests of one session all succeed.',
      statements: ['4.5.4', '2.7.7'],
      reason:
        'A turn that is sent again after a broken connection may overlap with the first attempt.',
      probes: ['chat/overlap'],
      steps: [SAME_SESSION],
      plain: 'full',
      wrapCheck: ifOthersSucceed,
      isEvidence: showsOverlap,
      mutants: {
        'session-busy': {
          description: 'Refuses a request while another one of its session is in progress.',
          transform: onTwins('chat', sessionIfValid, () => errorResponse(409, 'bad_request')),
        },
        'session-busy-500': {
          description: 'Responds with 500 while another request of the session is in progress.',
          transform: onTwins('chat', sessionIfValid, () => errorResponse(500, 'server_error')),
          alsoKills: ['CHAT-016'],
        },
      },
    },
    'CHAT-014': {
      rule: 'Concurrent valid chat requests all succeed.',
      statements: ['4.5.4', '4.5.5'],
      reason: 'Simulations run in parallel; requests that fail under concurrency end them.',
      probes: ['chat/overlap'],
      steps: ['overlap'],
      plain: 'full',
      isEvidence: showsOverlap,
      mutants: {
        'overlap-500': {
          description: 'Responds with 500 to concurrent requests.',
          transform: refuseInstead(to('chat', overlaps), 500, 'server_error'),
          alsoKills: ['CHAT-016'],
        },
        'overlap-third-500': {
          description: 'Responds with 500 to one of several concurrent requests.',
          transform: failThirdOverlapping,
          alsoKills: ['CHAT-016'],
        },
        'one-at-a-time': {
          description: 'Responds with 500 while another request is in progress.',
          transform: failWhileBusy,
          alsoKills: ['CHAT-016'],
        },
      },
    },
  },
);

export const validRequests: Subject = {
  requirements: {
    ...accepted,
    'CHAT-016': {
      rule: 'Every valid chat request gets a complete response that is not a server error.',
      statements: ['4.5.1', '4.5.4', '4.5.5'],
      reason: 'A turn without a reply ends the simulation, no matter how the error is worded.',
      check: checkNoServerError(({ endpoint }) => endpoint === 'chat', noReply),
      mutants: {
        'every-seventh-500': {
          description: 'Responds with 500 to every seventh request, even if it is valid.',
          transform: failEverySeventh('chat'),
        },
        'every-seventh-dropped': {
          description: 'Drops the connection of every seventh request, even if it is valid.',
          transform: failEverySeventh('chat', 'dropped'),
        },
      },
    },
  },
  legal: {
    'unknown-fields-refused': {
      description: 'Refuses fields that the specification does not name.',
      transform: refuseInstead(to('chat', hasUnknownFields)),
    },
  },
};

function hangAfterMalformedJson(): ReturnType<TransformFactory> {
  let isHanging = false;
  const sessions = new Set<string | undefined>();
  return async (request, forward, clock) => {
    if (request.endpoint === 'chat' && request.json === undefined) isHanging = true;
    const session = stringAt('session_id', request);
    if (isHanging && session !== undefined && !sessions.has(session)) await clock.sleep(HANG_MS);
    sessions.add(session);
    return forward(request);
  };
}

function leaveRefusedBodies(): ReturnType<TransformFactory> {
  const spoiled = new WeakSet<object>();
  return async (request, forward) => {
    if (spoiled.delete(request.connection)) return errorResponse(400, 'bad_request');
    const response = await forward(request);
    if (hasWrongKey(request)) spoiled.add(request.connection);
    return response;
  };
}

function failThirdOverlapping(): ReturnType<TransformFactory> {
  let overlapping = 0;
  return async (request, forward) => {
    if (!overlaps(request) || ++overlapping !== 3) return forward(request);
    return errorResponse(500, 'server_error');
  };
}

function failWhileBusy(): ReturnType<TransformFactory> {
  let inProgress = 0;
  return async (request, forward) => {
    if (request.endpoint !== 'chat') return forward(request);
    if (inProgress > 0) return errorResponse(500, 'server_error');
    inProgress++;
    return forward(request).finally(() => inProgress--);
  };
}

/** Some field outside `metadata` is not in the specification. */
function hasUnknownFields({ json }: ProxyRequest): boolean {
  return (
    hasOtherKeys(json, ['messages', 'user_id', 'session_id', 'metadata']) ||
    listAt(json, '/messages').some((message) => hasOtherKeys(message, ['role', 'content']))
  );
}
