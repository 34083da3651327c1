/** `POST /v1/sessions/{conversation_id}/end`: which conversations end, and when (spec 3.1, 4.2). */
import { formatValue } from '../../../src/contract/index.ts';
import { formatCount, formatDuration } from '../../../src/report-kit/format.ts';
import type { Finding } from '../../engine/checks/check.ts';
import { changeRequest, to, withBody } from '../../engine/mutants/combinators.ts';
import type { ProxyRequest, TransformFactory } from '../../engine/mutants/mutant.ts';
import type { Subject } from '../../engine/requirement.ts';
import {
  describeOutcome,
  type Exchange,
  isAccepted,
  type Transcript,
} from '../../engine/transcript/reading.ts';
import { endedConversationOf } from '../service/transcript.ts';
import { checkRequests, type Fault, notObserved, toFinding } from './checks.ts';
import { explainNoSpans } from './empty-traces.ts';
import { findMissingSpans } from './lost-spans.ts';
import { secondBatch, SPAN_CONVERSATION } from './reference.ts';
import { isEnd, mayContainConversation, sentConversationsOf } from './sent-conversations.ts';
import {
  conversationsOf,
  conversationSpansOf,
  headerConversationOf,
  isTraces,
  spanKeyOf,
} from './sent-traces.ts';
import { changePath, omit, sendTwice, setHeaders, storedResponse } from './transforms.ts';

const NO_END = notObserved(
  'The client never closed a conversation.',
  'Let the command send POST /v1/sessions/{conversation_id}/end.',
);
const SPANS_NOT_STORED = notObserved('The service did not store the spans of the conversation.');

const end = to('end');

export const endCalls: Subject = {
  requirements: {
    'CLIENT-040': {
      rule: 'The id in `POST /v1/sessions/{conversation_id}/end` is the conversation id of spans that the client sent.',
      section: '4.2',
      statements: ['3.1.19', '4.2.1', '4.2.2', '4.2.6', '7.a3'],
      reason: 'The service responds with 404, and the conversation stays open for 24 hours.',
      check: checkRequests(
        (exchange, transcript) => isEnd(exchange) && !isConsequence(exchange, transcript),
        (transcript) =>
          transcript.exchanges.some(isEnd) ? SPANS_NOT_STORED(transcript) : NO_END(transcript),
        findUnknownConversation,
      ),
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
      check: checkRequests(isEnd, NO_END, ({ request: { headers, body } }) => {
        const length = headers['content-length'] ?? (body === undefined ? '0' : 'unknown');
        return length === '0'
          ? undefined
          : { expected: 'no body', received: `a body of ${length} bytes` };
      }),
      mutants: {
        'end-with-body': {
          description: 'Sends an empty JSON object with the end call.',
          transform: changeRequest(end, (request) =>
            withBody(request, '{}', { 'content-type': 'application/json' }),
          ),
        },
      },
      legal: {
        'ends-with-empty-body': {
          description: 'Sends the end call with a content type and an empty body.',
          transform: setHeaders(end, { 'content-type': 'application/json' }),
        },
      },
    },
    'CLIENT-042': {
      level: 'should',
      rule: 'A conversation ends after the service has acknowledged its last span.',
      section: '3.1',
      statements: ['1.9', '3.1.1', '3.1.4'],
      reason: 'The evals score an incomplete conversation, or the end call gets a 404.',
      check: checkRequests(
        (exchange, transcript) => {
          const id = endedConversationOf(exchange);
          const isDecided =
            isAccepted(exchange) || (is404(exchange) && !isEndedLater(exchange, transcript));
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
      rule: 'The client ends every conversation that it sends spans for.',
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

const is404 = ({ response }: Exchange): boolean => response?.status === 404;

/** Returns whether the client ended a conversation successfully after a first attempt. */
function isEndedLater(endCall: Exchange, { exchanges }: Transcript): boolean {
  const id = endedConversationOf(endCall);
  return exchanges.some(
    (exchange) =>
      isEnd(exchange) &&
      exchange.id > endCall.id &&
      isAccepted(exchange) &&
      endedConversationOf(exchange) === id,
  );
}

/** Returns whether the service knows no such conversation because its spans were refused or ignored. */
function isConsequence(endCall: Exchange, transcript: Transcript): boolean {
  return is404(endCall) && mayContainConversation(endedConversationOf(endCall) ?? '', transcript);
}

function findUnknownConversation(exchange: Exchange, transcript: Transcript): Fault | undefined {
  const id = endedConversationOf(exchange);
  const sent = sentConversationsOf(transcript);
  const isSent = id !== undefined && sent.has(id);
  if (!is404(exchange) || isSent) return undefined;
  const known = [...sent.keys()];
  const expected = 'the gen_ai.conversation.id of spans that were sent';
  const received = `${formatValue(id)}, which no span has`;
  const hint = explainUnknownId(id ?? '', known, transcript);
  if (hint !== undefined) return { expected, received, hint };
  const [missing] = findMissingSpans(transcript);
  if (!missing) {
    return { expected, received, hint: `The client sent spans of ${formatValue(known.at(-1))}.` };
  }
  return {
    expected,
    received: `spans were lost: none of ${formatValue(id)} was sent before its end call`,
    hint: `Spans of other conversations are missing, too (CLIENT-044, exchange ${missing.exchange}): the exporter kept its last spans. Flush it, and wait for its result, before the end call.`,
  };
}

/** A variable that was not replaced, as in single quotes of a shell or in a template. */
const PLACEHOLDER = /^(\$\{?\w+\}?|\{\{?\s*\w+\s*\}?\}|%[sd@]|:\w+)$/;

/** Returns whether trace requests name a conversation in their header after it was ended. */
function isHeaderKept(id: string, { exchanges }: Transcript): boolean {
  const close = exchanges.find(
    (exchange) => isEnd(exchange) && isAccepted(exchange) && endedConversationOf(exchange) === id,
  );
  return exchanges.some(
    (exchange) =>
      close !== undefined &&
      exchange.id > close.id &&
      isTraces(exchange) &&
      headerConversationOf(exchange) === id,
  );
}

/** Says why an id is unknown; undefined if nothing explains it. */
function explainUnknownId(
  id: string,
  known: readonly string[],
  transcript: Transcript,
): string | undefined {
  const last = known.at(-1);
  if (last === undefined) return explainNoSpans(transcript);
  if (PLACEHOLDER.test(id)) {
    return 'The id is the name of a variable. Put the URL in double quotes, so that the shell replaces it, or format it before you send the request.';
  }
  const encoded = known.find((other) => encodeURIComponent(other) === id);
  if (encoded !== undefined) return 'The id is percent-encoded twice. Encode it once.';
  const isForm = known.some((other) => other.replaceAll(' ', '+') === id);
  if (isForm) return 'In a path, + is a plus sign. Percent-encode a space as %20.';
  const similar = known.find((other) => other.trim().toLowerCase() === id.trim().toLowerCase());
  if (similar !== undefined) {
    return `The client sent spans of ${formatValue(similar)}. Use the same spelling.`;
  }
  return isHeaderKept(last, transcript)
    ? `X-Conversation-Id is still ${formatValue(last)} in requests after the end call for it. Set the header for each conversation.`
    : undefined;
}

/** Finds spans of a conversation that arrive for the first time after its end call. */
function findLateSpans(endCall: Exchange, transcript: Transcript): Fault | undefined {
  const id = endedConversationOf(endCall) ?? '';
  const requests = sentConversationsOf(transcript).get(id) ?? [];
  const conversations = conversationsOf(transcript);
  const keysOf = (exchange: Exchange): string[] =>
    conversationSpansOf(exchange)
      .filter((span) => conversations.get(span) === id)
      .map(spanKeyOf);
  const isBefore = ({ endedMs }: Exchange): boolean => endedMs <= endCall.startedMs;
  // Only new spans are late: the service ignores repeated spans. A refused request stores no spans.
  const isStored = (exchange: Exchange): boolean =>
    isBefore(exchange) && (isAccepted(exchange) || exchange.failure !== undefined);
  const sent = new Set(requests.filter(isStored).flatMap(keysOf));
  const late = requests.filter(
    (exchange) =>
      !isBefore(exchange) && isAccepted(exchange) && keysOf(exchange).some((key) => !sent.has(key)),
  );
  const [first] = late;
  if (!first) return undefined;
  const keys = new Set(late.flatMap(keysOf).filter((key) => !sent.has(key)));
  return {
    expected: `the end call of ${formatValue(id)} after the service has acknowledged all its spans`,
    ...describeLateSpans(endCall, first, {
      count: formatCount(keys.size, 'new span'),
      isFirst: sent.size === 0,
      endCalls: countEndCalls(id, transcript),
    }),
  };
}

const countEndCalls = (id: string, { exchanges }: Transcript): number =>
  exchanges.filter(
    (exchange) => isEnd(exchange) && isAccepted(exchange) && endedConversationOf(exchange) === id,
  ).length;

/** Says when the spans arrived in relation to the end call, and what to change. */
function describeLateSpans(
  endCall: Exchange,
  late: Exchange,
  { count, isFirst, endCalls }: { count: string; isFirst: boolean; endCalls: number },
): Pick<Fault, 'received' | 'hint'> {
  const outcome = `the end call, which got ${describeOutcome(endCall)}`;
  const hint = `Flush the exporter, wait for its result, and then end the conversation.${
    is404(endCall) ? ' A 404 ended nothing: the conversation stays open for 24 hours.' : ''
  }`;
  if (late.startedMs < endCall.startedMs) {
    const pause = formatDuration(late.endedMs - endCall.startedMs);
    const received = `ended too early: exchange ${late.id} with ${count} was acknowledged ${pause} after the start of ${outcome}`;
    return { received, hint };
  }
  const pause = formatDuration(late.startedMs - endCall.endedMs);
  if (endCalls > 1) {
    return {
      received: `ended ${endCalls} times, with turns in between: ${count} came ${pause} after this end call`,
      hint: 'End a conversation once, after its last turn, not after each turn: the evals score it when it ends.',
    };
  }
  const which = isFirst ? 'first' : 'last';
  const received = `ended before its ${which} span was sent: ${count} came ${pause} after ${outcome} (exchange ${late.id})`;
  return { received, hint };
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
