/** Which end calls return `already_closed: true`: the repeated ones (spec 2.3, 3.1). */
import { resolvePointer } from '../../../../src/contract/index.ts';
import { checkEach, type Check } from '../../../engine/checks/check.ts';
import {
  changeResponse,
  drop,
  editBody,
  isSuccess,
  jsonResponse,
  set,
  to,
  type Edit,
} from '../../../engine/mutants/combinators.ts';
import type {
  ProxyRequest,
  ProxyResponse,
  Transform,
  TransformFactory,
} from '../../../engine/mutants/mutant.ts';
import type { Subject } from '../../../engine/requirement.ts';
import { requirePlainRight, wrongValue } from '../findings.ts';
import type { ResultsObject } from '../results-api.ts';
import type { EndStep } from '../steps.ts';
import { isStep, lastAccepted } from '../transcript.ts';
import { conversationIdIn, conversationIdsIn, refusal } from '../transforms.ts';
import {
  CLOSED_LAST,
  CLOSED_TWICE_SUBJECT,
  closes,
  CONCURRENT_CLOSE_STEP,
  editCloses,
  isClosed,
  isFirstClose,
  notClosed,
  requirePlainClose,
} from './evidence.ts';

const onRepeatedClose =
  (edit: Edit): Edit =>
  (body, request) => {
    if (body['already_closed'] !== undefined) edit(body, request);
  };

export const alreadyClosed: Subject = {
  requirements: {
    'SERVICE-045': {
      rule: 'A repeated `POST /v1/sessions/{id}/end` returns `already_closed: true`.',
      statements: ['2.3.7', '3.1.10', '3.1.11'],
      reason: 'A client that retries would not learn that its first call closed the conversation.',
      observability: 'provoked',
      check: requirePlainClose(marksRepeatedClose('close again')),
      mutants: {
        'repeat-not-told': editCloses(
          'Omits already_closed on a repeated call.',
          drop('/already_closed'),
        ),
        'repeat-false': editCloses(
          'Returns already_closed: false on a repeated call.',
          onRepeatedClose(set('/already_closed', false)),
        ),
        'repeat-409': {
          description: 'Refuses a repeated end call.',
          transform: changeResponse(to('end'), (response) =>
            response.body.includes('already_closed') ? refusal(409) : response,
          ),
        },
      },
      legal: {
        'end-repeat-count': editCloses(
          'Returns the original evaluations_queued on a repeated end call.',
          (body) => {
            if (body['already_closed'] === true) body['evaluations_queued'] = 2;
          },
        ),
        'end-repeat-brief': {
          description: 'Returns only already_closed and conversation_id on a repeated end call.',
          transform: changeResponse(to('end'), (response) => {
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
        'first-told-as-repeat': editCloses(
          'Returns already_closed: true on the first call.',
          set('/already_closed', true),
        ),
      },
      legal: {
        'end-first-false': editCloses(
          'Returns already_closed: false on the first end call.',
          (body) => {
            body['already_closed'] ??= false;
          },
        ),
      },
    },
    'SERVICE-218': {
      level: 'should',
      rule: '`status` in the response to a repeated end call is `evaluating`, if it has one.',
      statements: ['2.3.3'],
      reason: 'Clients wait for results only if they read this status.',
      observability: 'provoked',
      check: repeatsStatus(),
      mutants: {
        'repeat-completed': editCloses(
          'Returns status completed on a repeated call.',
          onRepeatedClose(set('/status', 'completed')),
        ),
      },
    },
    'SERVICE-167': {
      rule: 'An end call after late spans returns `already_closed: true`.',
      statements: ['2.3.7', '3.1.10', '3.1.11', '3.1.12'],
      reason: 'One late span would make the service score a conversation again.',
      observability: 'provoked',
      probes: ['service/late'],
      check: requireMarkedRepeat(marksRepeatedClose('close late again')),
      mutants: {
        'late-spans-reopen': {
          description: 'Reopens a closed conversation when spans arrive late.',
          transform: reopenByLateSpans,
        },
      },
    },
    'SERVICE-168': {
      rule: 'If two end calls arrive at the same moment, exactly one closes the conversation, and the other returns `already_closed: true`.',
      statements: ['2.3.7', '3.1.4', '3.1.10', '3.1.12'],
      reason: 'The conversation would be scored twice, or no client would learn that it closed it.',
      observability: 'provoked',
      probes: ['service/conversations'],
      check: requireMarkedRepeat(closesOnceAtSameMoment()),
      mutants: {
        'closes-both': {
          description: 'Closes a conversation for each of two concurrent end calls.',
          transform: onConcurrentCloses((response, request) =>
            editBody(response, request, drop('/already_closed')),
          ),
        },
        'closes-neither': {
          description: 'Returns already_closed to both of two concurrent end calls.',
          transform: onConcurrentCloses((response, request) =>
            editBody(response, request, set('/already_closed', true)),
          ),
        },
        'concurrent-close-409': {
          description: 'Refuses the second of two concurrent end calls.',
          transform: onConcurrentCloses((response) =>
            response.body.includes('already_closed') ? refusal(409) : response,
          ),
        },
      },
    },
  },
};

/** Requires the status of first closes in the response to a repeated one, which may omit it. */
function repeatsStatus(): Check {
  return checkEach(
    (exchange, transcript) => {
      const first = lastAccepted(transcript, 'end', 'close old');
      return (
        isClosed(exchange) &&
        isStep(exchange, 'end', 'close again') &&
        resolvePointer(exchange.json, '/status') !== undefined &&
        // Another status of the first close violates another requirement.
        resolvePointer(first?.json, '/status') === 'evaluating'
      );
    },
    (exchange) =>
      resolvePointer(exchange.json, '/status') === 'evaluating'
        ? []
        : [wrongValue(exchange, '/status', '"evaluating"')],
    (transcript) =>
      lastAccepted(transcript, 'end', 'close again')
        ? {
            verdict: 'not_applicable',
            reason: 'The response to a repeated end call, or to the first one, has no such status.',
          }
        : notClosed(transcript),
  );
}

const REPEAT_HINT =
  'Keep a conversation after it is closed, and respond to another end call for it with 200, its conversation_id, and already_closed: true.';

/** Requires `already_closed: true` in the response to an end call. */
export function marksRepeatedClose(step: EndStep): Check {
  const repeated = closes((exchange) => isStep(exchange, 'end', step));
  return {
    ...repeated,
    judge: (evidence, transcript) => [
      ...repeated.judge(evidence, transcript).map((finding) => ({ hint: REPEAT_HINT, ...finding })),
      ...evidence
        .filter(
          (exchange) =>
            isClosed(exchange) && resolvePointer(exchange.json, '/already_closed') !== true,
        )
        .map((exchange) => wrongValue(exchange, '/already_closed', 'true')),
    ],
  };
}

/** Judges special repeats only if plain end calls are marked rightly. */
function requireMarkedRepeat(check: Check): Check {
  return requirePlainRight([marksRepeatedClose('close again'), doesNotMarkFirstClose()], check);
}

/** Requires that one of two concurrent end calls is marked as a repeat, and the other is not. */
export function closesOnceAtSameMoment(): Check {
  const both = closes((exchange) => isStep(exchange, 'end', CONCURRENT_CLOSE_STEP));
  return {
    ...both,
    evidence(transcript) {
      const evidence = both.evidence(transcript);
      return evidence.length === 2 ? evidence : [];
    },
    judge(evidence, transcript) {
      const findings = both.judge(evidence, transcript);
      if (findings.length > 0) return findings;
      const marks = evidence.map(({ json }) => resolvePointer(json, '/already_closed') === true);
      const [, second] = evidence;
      if (!second || marks.filter(Boolean).length === 1) return [];
      const expected = 'true in exactly one of two responses';
      const received = `true in ${marks.filter(Boolean).length} of them`;
      const hint = marks.every(Boolean)
        ? 'Return already_closed only if another call closed the conversation before.'
        : 'Close the conversation and check that it was open in one transaction.';
      return [{ ...wrongValue(second, '/already_closed', expected, received), hint }];
    },
    unjudged: notClosed,
  };
}

/** The hint for conversations of days ago, which arrived just now. */
const ARRIVAL_HINT = 'Count the 24 idle hours from the arrival of spans, not from their times.';

/** Requires that the first end call for a conversation does not say that it was closed before. */
export function doesNotMarkFirstClose(): Check {
  return checkEach(
    isFirstClose,
    (exchange) => {
      if (resolvePointer(exchange.json, '/already_closed') !== true) return [];
      const finding = wrongValue(exchange, '/already_closed', 'absent or false');
      const isOld = isStep(exchange, 'end', 'close old', `close ${CLOSED_LAST}`);
      return [isOld ? { ...finding, hint: ARRIVAL_HINT } : finding];
    },
    notClosed,
  );
}

/** Forgets that a conversation is closed when more spans of it arrive. */
function reopenByLateSpans(): Transform {
  const closed = new Set<string>();
  const reopened = new Set<string>();
  return async (request, forward) => {
    const response = await forward(request);
    const sent = request.endpoint === 'traces' ? conversationIdsIn(request.body) : [];
    for (const id of sent) if (closed.has(id)) reopened.add(id);
    const id = conversationIdIn(request.path);
    if (request.endpoint !== 'end' || id === undefined || !isSuccess(response)) return response;
    closed.add(id);
    return reopened.has(id) ? editBody(response, request, drop('/already_closed')) : response;
  };
}

/** Edits the responses to the two end calls that are sent at the same moment. */
function onConcurrentCloses(
  change: (response: ProxyResponse, request: ProxyRequest) => ProxyResponse,
): TransformFactory {
  return () => {
    const ids = new Set<string>();
    return async (request, forward) => {
      const { endpoint, body, path } = request;
      const id = conversationIdIn(endpoint === 'traces' ? body : path) ?? '';
      if (endpoint === 'traces' && body.includes(CLOSED_TWICE_SUBJECT)) ids.add(id);
      const response = await forward(request);
      return endpoint === 'end' && ids.has(id) ? change(response, request) : response;
    };
  };
}
