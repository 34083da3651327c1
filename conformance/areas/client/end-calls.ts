/** `POST /v1/sessions/{conversation_id}/end`: which conversations end, and when (spec 3.1, 4.2). */
import { formatValue } from '../../../src/contract/index.ts';
import { computeOnce } from '../../../src/platform/compute-once.ts';
import type { Finding } from '../../engine/checks/check.ts';
import { changeRequest, to, withBody } from '../../engine/mutants/combinators.ts';
import type { ProxyRequest, TransformFactory } from '../../engine/mutants/mutant.ts';
import type { Subject } from '../../engine/requirement.ts';
import { type Exchange, isAccepted, type Transcript } from '../../engine/transcript/reading.ts';
import { checkRequests, type Fault, notObserved, toFinding } from './checks.ts';
import { secondBatch, SPAN_CONVERSATION } from './reference.ts';
import { conversationsOf, conversationSpansOf, isTraces, spanKeyOf } from './sent-traces.ts';
import { changePath, omit, sendTwice, storedResponse } from './transforms.ts';

const NO_END = notObserved('The client never sent POST /v1/sessions/{conversation_id}/end.');

const end = to('end');

export const endCalls: Subject = {
  requirements: {
    'CLIENT-040': {
      rule: 'The id in `POST /v1/sessions/{conversation_id}/end` is the conversation id of spans that the client sent.',
      section: '4.2',
      statements: ['3.1.19', '4.2.1', '4.2.2', '4.2.6', '7.a3'],
      reason: 'The service responds with 404, and the conversation stays open for 24 hours.',
      check: checkRequests(isEnd, NO_END, findUnknownConversation),
      mutants: {
        'ends-unknown': {
          description: 'Ends a conversation with an id that no span has.',
          transform: changePath(end, (path) => path.replace('/end', '-other/end')),
        },
      },
      legal: {
        'ends-twice': {
          description: 'Ends every conversation twice.',
          transform: sendTwice(end),
        },
      },
    },
    'CLIENT-041': {
      rule: '`POST /v1/sessions/{conversation_id}/end` has no body.',
      statements: ['4.2.4'],
      reason: 'Other implementations of the service may refuse a request with a body.',
      check: checkRequests(isEnd, NO_END, ({ request: { headers } }) => {
        const hasBody =
          Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined;
        return hasBody
          ? {
              expected: 'no body',
              received: `a body of ${headers['content-length'] ?? 'unknown'} bytes`,
            }
          : undefined;
      }),
      mutants: {
        'end-with-body': {
          description: 'Sends an empty JSON object with the end call.',
          transform: changeRequest(end, (request) =>
            withBody(request, '{}', { 'content-type': 'application/json' }),
          ),
        },
      },
    },
    'CLIENT-042': {
      level: 'should',
      rule: 'A conversation ends after its last span has been sent.',
      section: '3.1',
      statements: ['1.9', '3.1.1', '3.1.4'],
      reason: 'The evals score an incomplete conversation, or the end call gets a 404.',
      check: checkRequests(
        (exchange, transcript) => {
          const id = endedConversationOf(exchange);
          const isDecided = isAccepted(exchange) || exchange.response?.status === 404;
          return isEnd(exchange) && isDecided && sentConversationsOf(transcript).has(id ?? '');
        },
        notObserved('No end call has the id of a conversation whose spans were sent.'),
        findLateSpans,
      ),
      mutants: {
        'ends-too-early': {
          description: 'Ends a conversation before its last spans are sent.',
          transform: endTooEarly,
        },
      },
      legal: {
        'resends-after-end': {
          description: 'Sends a stored batch again after the end call.',
          transform: resendAfterEnd,
        },
      },
    },
    'CLIENT-043': {
      level: 'may',
      rule: 'The client ends every conversation for which it sends spans.',
      section: '3.1',
      statements: ['1.9', '3.1.8'],
      reason: 'Without an end call, results appear only after 24 hours without activity.',
      check: {
        evidence(transcript) {
          const sent = [...sentConversationsOf(transcript).values()];
          return [...new Set(sent.map(([first]) => first))];
        },
        judge: (_evidence, transcript) => findOpenConversations(transcript),
        unjudged: notObserved('The client sent no spans of a conversation.'),
      },
      legal: {
        'never-ends': {
          description: 'Never ends a conversation, so that the service closes it after 24 hours.',
          transform: omit(end),
        },
      },
    },
  },
};

function isEnd({ endpoint }: Exchange): boolean {
  return endpoint === 'end';
}

/** Returns the conversation id in an end call; undefined if its encoding is invalid. */
function endedConversationOf({ request }: Exchange): string | undefined {
  const [, id] = /^\/v1\/sessions\/([^/?]*)\/end/.exec(request.path) ?? [];
  try {
    return id === undefined ? undefined : decodeURIComponent(id);
  } catch {
    return undefined;
  }
}

/** The requests that sent spans of a conversation, by its id. */
type SentConversations = ReadonlyMap<string, [Exchange, ...Exchange[]]>;

const sentConversationsOf = computeOnce((transcript: Transcript): SentConversations => {
  const conversations = conversationsOf(transcript);
  const sent = new Map<string, [Exchange, ...Exchange[]]>();
  for (const exchange of transcript.exchanges.filter(isTraces)) {
    const ids = conversationSpansOf(exchange).flatMap((span) => conversations.get(span) ?? []);
    for (const id of new Set(ids)) {
      const requests = sent.get(id);
      if (requests) requests.push(exchange);
      else sent.set(id, [exchange]);
    }
  }
  return sent;
});

function findUnknownConversation(exchange: Exchange, transcript: Transcript): Fault | undefined {
  const id = endedConversationOf(exchange);
  const sent = sentConversationsOf(transcript);
  const isSent = id !== undefined && sent.has(id);
  if (exchange.response?.status !== 404 || isSent) return undefined;
  const known = [...sent.keys()];
  return {
    expected: 'the gen_ai.conversation.id of spans that were sent',
    received: `${formatValue(id)}, which no span has`,
    hint:
      known.length === 0
        ? 'The client sent no span of a conversation. Flush the exporter before the end call.'
        : `The client sent spans of ${formatValue(known.at(-1))}.`,
  };
}

/** Finds spans of a conversation that arrive for the first time after its end call. */
function findLateSpans(endCall: Exchange, transcript: Transcript): Fault | undefined {
  const id = endedConversationOf(endCall);
  const requests = sentConversationsOf(transcript).get(id ?? '') ?? [];
  const conversations = conversationsOf(transcript);
  const keysOf = (exchange: Exchange): string[] =>
    conversationSpansOf(exchange)
      .filter((span) => conversations.get(span) === id)
      .map(spanKeyOf);
  const isBefore = ({ id: nth, startedMs }: Exchange): boolean =>
    nth < endCall.id && startedMs < endCall.startedMs;
  // Only new spans are late: the service ignores repeated spans. A refused request stores no spans.
  const isStored = (exchange: Exchange): boolean =>
    isBefore(exchange) && (isAccepted(exchange) || exchange.failure !== undefined);
  const sent = new Set(requests.filter(isStored).flatMap(keysOf));
  const late = requests.find(
    (exchange) => !isBefore(exchange) && keysOf(exchange).some((key) => !sent.has(key)),
  );
  if (!late) return undefined;
  return {
    at: late,
    expected: `no new spans of ${formatValue(id)} after its end call (exchange ${endCall.id})`,
    received: `${keysOf(late).filter((key) => !sent.has(key)).length} new spans`,
    hint: 'Flush the exporter before you end the conversation.',
  };
}

function findOpenConversations(transcript: Transcript): Finding[] {
  const ended = new Set(
    transcript.exchanges
      .filter((exchange) => isEnd(exchange) && isAccepted(exchange))
      .map(endedConversationOf),
  );
  const open = [...sentConversationsOf(transcript)].filter(([id]) => !ended.has(id));
  return open.map(([id, requests]) =>
    toFinding(requests.at(-1) ?? requests[0], {
      expected: 'an end call after the last span',
      received: `no accepted end call for ${formatValue(id)}`,
    }),
  );
}

/** Delays the second batch until the conversation has ended. */
function endTooEarly(): ReturnType<TransformFactory> {
  let delayed: ProxyRequest | undefined;
  return async (request, forward) => {
    if (secondBatch(request)) {
      delayed = request;
      return storedResponse;
    }
    const response = await forward(request);
    const isOfSpans = end(request) && request.path.includes(encodeURIComponent(SPAN_CONVERSATION));
    if (delayed && isOfSpans && response.status === 200) {
      await forward(delayed);
      delayed = undefined;
    }
    return response;
  };
}

/** Sends the second batch again after the conversation has ended. */
function resendAfterEnd(): ReturnType<TransformFactory> {
  let batch: ProxyRequest | undefined;
  return async (request, forward) => {
    if (secondBatch(request)) batch = request;
    const response = await forward(request);
    if (batch && end(request) && response.status === 200) await forward(batch);
    return response;
  };
}
