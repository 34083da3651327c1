/** How the turns of a listed session differ from the chat spans that the run sent. */
import { formatValue, resolvePointer, type TraceSpan } from '../../../../src/contract/index.ts';
import { formatList } from '../../../../src/report-kit/format.ts';
import type { Exchange, Transcript } from '../../../engine/transcript/reading.ts';
import type { ResultsObject } from '../results-api.ts';
import { listChatSpanArrivals, messageTexts, sentSpans, turnsOf } from '../transcript.ts';

/** A chat span of a conversation, and every request that carried it. */
export interface SentSpan {
  spanId: string;
  /** In the order of arrival; a request that has the span twice occurs twice. */
  arrivals: readonly { exchange: Exchange; span: TraceSpan }[];
}

/** What is wrong with the turns of a session. */
export interface TurnDifferences {
  sent: readonly SentSpan[];
  /** The spans that no turn shows. */
  missing: readonly SentSpan[];
  /** The spans that more than one turn shows. */
  repeated: readonly SentSpan[];
  /** The turns that show no chat span. */
  unknown: readonly unknown[];
}

/** Returns the chat spans of a conversation that the service accepted, in the order of arrival. */
export function listSentSpans(id: string, transcript: Transcript): SentSpan[] {
  const arrivals = listChatSpanArrivals(id, transcript);
  const bySpanId = Map.groupBy(arrivals, ({ span }) => span.spanId);
  return [...bySpanId].map(([spanId, group]) => ({ spanId, arrivals: group }));
}

/** The part of a text that no other turn has: the id of the conversation, and the number of the turn. */
export const TURN_ID = /sk-[a-z0-9]{8}-[a-z0-9]{8}[^\s?]*\/\d+/;

/** Compares the turns of a session with the spans of its conversation, by a part of their texts. */
export function compareTurns(
  session: ResultsObject,
  id: string,
  transcript: Transcript,
): TurnDifferences {
  const sent = listSentSpans(id, transcript);
  const shown = new Map<SentSpan, number>();
  const unknown: unknown[] = [];
  for (const turn of turnsOf(session)) {
    const alike = sent.filter((one) => showsSpan(turn, one));
    // Spans can have the same text. Then each gets a turn first.
    const match = alike.find((one) => !shown.has(one)) ?? alike[0];
    if (match) shown.set(match, (shown.get(match) ?? 0) + 1);
    else unknown.push(turn);
  }
  return {
    sent,
    missing: sent.filter((one) => !shown.has(one)),
    repeated: sent.filter((one) => (shown.get(one) ?? 0) > 1),
    unknown,
  };
}

/** Returns whether a turn has the text of a span, in any of the forms in which the span arrived. */
function showsSpan(turn: unknown, { arrivals }: SentSpan): boolean {
  const shownIds = ['/user_input', '/agent_response'].flatMap((pointer) =>
    findTurnId(resolvePointer(turn, pointer)),
  );
  return arrivals.some(({ span }) =>
    findTurnId(messageTexts(span, 'gen_ai.input.messages').join('')).some((id) =>
      shownIds.includes(id),
    ),
  );
}

const findTurnId = (text: unknown): string[] =>
  typeof text === 'string' ? (TURN_ID.exec(text)?.slice(0, 1) ?? []) : [];

/** Describes the differences: `without span 2 of exchange 50 "json"`. Empty if the texts show none. */
export function describeDifferences(differences: TurnDifferences): string {
  const { sent, missing, repeated, unknown } = differences;
  // Turns without their texts do not show whose they are.
  if (unknown.length > 0 && missing.length === sent.length) return '';
  const [extra] = unknown;
  const parts = [
    ...describeMissing(missing),
    ...repeated.slice(0, 1).map((span) => `with two turns for ${describeArrivals(span)}`),
    ...(extra === undefined ? [] : [`with a turn of no chat span: ${formatValue(extra)}`]),
  ];
  return parts.join('; ');
}

/** The most requests to name. */
const NAMED_MAX = 3;

function describeMissing(missing: readonly SentSpan[]): string[] {
  if (missing.length === 0) return [];
  const groups = Map.groupBy(missing, ({ arrivals }) => arrivals[0]?.exchange);
  const named = [...groups].flatMap(([exchange, group]) =>
    exchange ? [describeSpansOf(exchange, group)] : [],
  );
  return [`without ${formatList(named, NAMED_MAX)}`];
}

/** Names spans of a request: `spans 1 and 3 of exchange 50 "json"`. */
function describeSpansOf(exchange: Exchange, group: readonly SentSpan[]): string {
  const ids = sentSpans(exchange).map(({ spanId }) => spanId);
  const name = nameExchange(exchange);
  const count = group.length;
  if (count === ids.length)
    return count === 1 ? `the span of ${name}` : `the ${count} spans of ${name}`;
  const numbers = group.map(({ spanId }) => String(ids.indexOf(spanId) + 1));
  if (count > NAMED_MAX) {
    return `${count} of the ${ids.length} spans of ${name}, such as span ${numbers[0]}`;
  }
  return `span${count === 1 ? '' : 's'} ${formatList(numbers)} of ${name}`;
}

/** Names the requests that carried a span: `a span that arrived in exchange 46 "re-sent" and …`. */
function describeArrivals({ arrivals }: SentSpan): string {
  const times = Map.groupBy(arrivals, ({ exchange }) => exchange);
  const named = [...times].map(
    ([exchange, group]) =>
      `exchange ${exchange.id} (${formOf(exchange)}${group.length > 1 ? ', twice' : ''})`,
  );
  return `a span that arrived in ${formatList(named, NAMED_MAX)}`;
}

const formOf = ({ request }: Exchange): string =>
  request.headers['content-type'] === 'application/x-protobuf' ? 'protobuf' : 'JSON';

const nameExchange = ({ id, step }: Exchange): string => `exchange ${id} "${step}"`;
