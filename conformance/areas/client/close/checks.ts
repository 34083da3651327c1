import { formatValue } from '../../../../src/contract/index.ts';
import { checkEach, unjudgedAs, type Check, type Finding } from '../../../engine/checks/check.ts';
import { type Exchange, isAccepted, type Transcript } from '../../../engine/transcript/reading.ts';
import { requestFinding } from '../findings.ts';
import { conversationsOf, conversationSpansOf, isTraces, spanKeyOf } from '../sent-traces.ts';
import type { closeRequirements } from './requirements.ts';

const isEnd = ({ endpoint }: Exchange): boolean => endpoint === 'end';

const NO_END = unjudgedAs(
  'not_observed',
  'The client never sent POST /v1/sessions/{conversation_id}/end.',
);

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

const sentCache = new WeakMap<Transcript, SentConversations>();

function sentConversationsOf(transcript: Transcript): SentConversations {
  const cached = sentCache.get(transcript);
  if (cached) return cached;
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
  sentCache.set(transcript, sent);
  return sent;
}

function findUnknownConversation(exchange: Exchange, transcript: Transcript): Finding[] {
  const id = endedConversationOf(exchange);
  const isSent = id !== undefined && sentConversationsOf(transcript).has(id);
  if (exchange.response?.status !== 404 || isSent) return [];
  const known = [...sentConversationsOf(transcript).keys()];
  return [
    requestFinding(
      exchange,
      'the gen_ai.conversation.id of spans that were sent',
      `${formatValue(id)}, which no span has`,
      known.length === 0
        ? 'The client sent no span of a conversation. Flush the exporter before the end call.'
        : `The client sent spans of ${formatValue(known.at(-1))}.`,
    ),
  ];
}

const hasBody = ({ request: { headers } }: Exchange): boolean =>
  Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined;

/** Finds spans of a conversation that arrive for the first time after its end call. */
function findLateSpans(end: Exchange, transcript: Transcript): Finding[] {
  const id = endedConversationOf(end);
  const requests = sentConversationsOf(transcript).get(id ?? '') ?? [];
  const conversations = conversationsOf(transcript);
  const keysOf = (exchange: Exchange): string[] =>
    conversationSpansOf(exchange)
      .filter((span) => conversations.get(span) === id)
      .map(spanKeyOf);
  const isBefore = ({ id: nth, startedMs }: Exchange): boolean =>
    nth < end.id && startedMs < end.startedMs;
  // Only new spans are late: the service ignores repeated spans. A refused request stores no spans.
  const isStored = (exchange: Exchange): boolean =>
    isBefore(exchange) && (isAccepted(exchange) || exchange.failure !== undefined);
  const sent = new Set(requests.filter(isStored).flatMap(keysOf));
  const late = requests.find(
    (exchange) => !isBefore(exchange) && keysOf(exchange).some((key) => !sent.has(key)),
  );
  if (!late) return [];
  return [
    requestFinding(
      late,
      `no new spans of ${formatValue(id)} after its end call (exchange ${end.id})`,
      `${keysOf(late).filter((key) => !sent.has(key)).length} new spans`,
      'Flush the exporter before you end the conversation.',
    ),
  ];
}

/** The checks of end calls. */
export const closeChecks: Readonly<Record<keyof typeof closeRequirements, Check>> = {
  'CLIENT-040': checkEach(isEnd, findUnknownConversation, NO_END),
  'CLIENT-041': checkEach(
    isEnd,
    (exchange) =>
      hasBody(exchange)
        ? [
            requestFinding(
              exchange,
              'no body',
              `a body of ${exchange.request.headers['content-length'] ?? 'unknown'} bytes`,
            ),
          ]
        : [],
    NO_END,
  ),
  'CLIENT-042': checkEach(
    (exchange, transcript) => {
      const id = endedConversationOf(exchange);
      const isDecided = isAccepted(exchange) || exchange.response?.status === 404;
      return isEnd(exchange) && isDecided && sentConversationsOf(transcript).has(id ?? '');
    },
    findLateSpans,
    unjudgedAs('not_observed', 'No end call has the id of a conversation whose spans were sent.'),
  ),
  'CLIENT-043': {
    evidence: (transcript) => {
      const sent = [...sentConversationsOf(transcript).values()];
      return [...new Set(sent.map(([first]) => first))];
    },
    judge(_evidence, transcript) {
      const ended = new Set(
        transcript.exchanges
          .filter((exchange) => isEnd(exchange) && isAccepted(exchange))
          .map(endedConversationOf),
      );
      const open = [...sentConversationsOf(transcript)].filter(([id]) => !ended.has(id));
      return open.map(([id, requests]) => {
        const last = requests.at(-1) ?? requests[0];
        const received = `no accepted end call for ${formatValue(id)}`;
        return requestFinding(last, 'an end call after the last span', received);
      });
    },
    unjudged: unjudgedAs('not_observed', 'The client sent no spans of a conversation.'),
  },
};
