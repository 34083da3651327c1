/**
 * Conversations that an end call must find, however the id and the spans were sent, and with each key of
 * their owner (spec 2.1, 4.1, 5).
 */
import type { Check } from '../../../engine/checks/check.ts';
import { respondInstead, withBody } from '../../../engine/mutants/combinators.ts';
import type { ProxyRequest, Transform } from '../../../engine/mutants/mutant.ts';
import type { Subject } from '../../../engine/requirement.ts';
import { requireControlApi, requirePlainRight } from '../findings.ts';
import { hasTurnPerSpan, onceTurnsAreListed } from '../results/sent-turns.ts';
import { accepts } from '../traces/trace-requests.ts';
import { isStep } from '../transcript.ts';
import { conversationIdsIn, emptyTraceResponse, matchFurtherKeys, refusal } from '../transforms.ts';
import { marksRepeatedClose } from './already-closed.ts';
import {
  CLOSE_WITH_SECOND_KEY,
  closes,
  encodedCloses,
  notClosed,
  requirePlainClose,
} from './evidence.ts';

export const knownConversations: Subject = {
  requirements: {
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
      // If only some spans of a request are read, their conversations are unknown.
      check: requirePlainRight(
        [onceTurnsAreListed(hasTurnPerSpan('split', 'protobuf'))],
        requirePlainClose(closes((exchange) => isStep(exchange, 'end', ...encodedCloses))),
      ),
      mutants: {
        'bytes-lost': {
          description: 'Accepts protobuf and gzip but stores nothing.',
          transform: respondInstead(isProtobufOrGzip, () => emptyTraceResponse),
          alsoKills: ['SERVICE-190'],
        },
      },
    },
  },
};

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
