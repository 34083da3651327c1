/** Why turns are missing or repeated, as far as the spans that have and lack a turn show it. */
import { resolvePointer } from '../../../../src/contract/index.ts';
import type { Exchange, Transcript } from '../../../engine/transcript/reading.ts';
import type { ResultsObject } from '../results-api.ts';
import { conversationIdOf, lastPolledPage, sentSpans, sessionsOf, turnsOf } from '../transcript.ts';
import { compareTurns, type SentSpan, type TurnDifferences } from './turn-differences.ts';

/** What the service does with spans, and what to do instead: parts of sentences. */
export interface LostTurns {
  fault: string;
  cure: string;
}

/** Explains the turns that a session lacks or repeats; undefined if they have no pattern. */
export function explainDifferences(
  differences: TurnDifferences,
  transcript: Transcript,
): LostTurns | undefined {
  const { sent, missing, repeated } = differences;
  if (missing.length === 0) return repeated[0] && explainRepetition(repeated[0]);
  const shown = sent.filter((span) => !missing.includes(span));
  return (
    explainStatus(missing, transcript) ??
    explainConcurrency(shown, missing) ??
    explainRequests(shown, missing, transcript) ??
    explainFirst(shown, sent) ??
    explainPosition(shown, missing)
  );
}

/** Returns the request that first carried a span. */
const carrierOf = ({ arrivals }: SentSpan): Exchange | undefined => arrivals[0]?.exchange;

/** Explains turns whose requests overlap one whose spans are kept. */
function explainConcurrency(
  shown: readonly SentSpan[],
  missing: readonly SentSpan[],
): LostTurns | undefined {
  const kept = shown.flatMap((span) => carrierOf(span) ?? []);
  const lost = missing.flatMap((span) => carrierOf(span) ?? []);
  const [first] = lost;
  const overlaps = (one: Exchange, other: Exchange): boolean =>
    one !== other && one.startedMs < other.endedMs && other.startedMs < one.endedMs;
  const areConcurrent = lost.every((one) => kept.some((other) => overlaps(one, other)));
  return first && areConcurrent
    ? {
        fault: `requests of one conversation that arrive at the same moment lose spans (exchange ${first.id})`,
        cure: 'Add the spans of a request to those of the conversation in one transaction: concurrent requests overwrite each other',
      }
    : undefined;
}

/** Explains turns of other requests: those that a later request replaced, or that came too late. */
function explainRequests(
  shown: readonly SentSpan[],
  missing: readonly SentSpan[],
  transcript: Transcript,
): LostTurns | undefined {
  const shownIn = new Set(shown.map(carrierOf));
  const missingIn = new Set(missing.map(carrierOf));
  const [kept] = shownIn;
  const [lost] = missingIn;
  if (!kept || !lost || shownIn.size > 1 || missingIn.has(kept)) return undefined;
  if (isClosedBefore(lost, transcript)) return undefined;
  if (shown.some(({ arrivals }) => arrivals.some(({ exchange }) => exchange === lost))) {
    return {
      fault: `a request that repeats a span loses its new spans (exchange ${lost.id})`,
      cure: 'Ignore only the span whose id is already stored, and store the others of the request',
    };
  }
  return kept.id > lost.id
    ? {
        fault: `the spans of a later request (exchange ${kept.id}) replace those of an earlier one (exchange ${lost.id}) of the same conversation`,
        cure: 'Add the spans of a request to those of the conversation that arrived before, even if their trace is another one',
      }
    : {
        fault: `only the spans of the first request (exchange ${kept.id}) of a conversation become turns, not those of a later one (exchange ${lost.id})`,
        cure: 'Add the spans of later requests to the conversation, even if their trace is another one',
      };
}

/** Explains a conversation of which only the span that arrived first became a turn. */
function explainFirst(
  shown: readonly SentSpan[],
  sent: readonly SentSpan[],
): LostTurns | undefined {
  const [only, ...others] = shown;
  const lastCarrier = sent.at(-1) && carrierOf(sent.at(-1) as SentSpan);
  if (!only || others.length > 0 || only !== sent[0] || carrierOf(only) === lastCarrier) {
    return undefined;
  }
  return {
    fault: `only one span of a conversation becomes a turn (of exchange ${carrierOf(only)?.id})`,
    cure: 'Make a turn of each chat span of the conversation, even if their traces differ',
  };
}

/** Returns whether the first end call for a conversation says that it was closed before. */
function isClosedBefore(carrier: Exchange, { exchanges }: Transcript): boolean {
  const id = conversationIdOf(carrier);
  const close = exchanges.find(
    (exchange) => exchange.endpoint === 'end' && conversationIdOf(exchange) === id,
  );
  return resolvePointer(close?.json, '/already_closed') === true;
}

/** Explains turns of one request: only those of its first or of its last span. */
function explainPosition(
  shown: readonly SentSpan[],
  missing: readonly SentSpan[],
): LostTurns | undefined {
  const carrier = missing[0] && carrierOf(missing[0]);
  const ids = carrier ? sentSpans(carrier).map(({ spanId }) => spanId) : [];
  if (!carrier || ids.length < 2 || !missing.every((span) => carrierOf(span) === carrier)) {
    return undefined;
  }
  const isSplit = new Set(sentSpans(carrier).map(({ resource }) => resource)).size > 1;
  if (isSplit) return explainResources(shown, missing, carrier);
  const shownHere = shown.filter((span) => carrierOf(span) === carrier);
  const [only] = shownHere;
  if (!only || shownHere.length > 1) return undefined;
  const position = only.spanId === ids[0] ? 'first' : only.spanId === ids.at(-1) ? 'last' : '';
  if (position === '') return undefined;
  return {
    fault: `only the ${position} span of a request with ${ids.length} spans becomes a turn (exchange ${carrier.id})`,
    cure: hasIdInHeader(carrier)
      ? 'Read every span of a scope, and apply X-Conversation-Id to each of them'
      : 'Read every span of a scope',
  };
}

/** Returns whether only the header of a request names its conversation. */
const hasIdInHeader = (carrier: Exchange): boolean =>
  sentSpans(carrier).every(
    ({ attributes }) => !Object.hasOwn(attributes, 'gen_ai.conversation.id'),
  );

/** Explains turns of a request with several resources, the first of which has two scopes. */
function explainResources(
  shown: readonly SentSpan[],
  missing: readonly SentSpan[],
  carrier: Exchange,
): LostTurns {
  const resourcesOf = (spans: readonly SentSpan[]): Set<object> =>
    new Set(spans.flatMap(({ arrivals }) => arrivals.map(({ span }) => span.resource)));
  const shownResources = resourcesOf(shown);
  const lost = [...resourcesOf(missing)];
  const isScope = lost.some((resource) => shownResources.has(resource));
  const isResource = lost.some((resource) => !shownResources.has(resource));
  return {
    fault: `spans of a request with several resources and scopes become no turns (exchange ${carrier.id})`,
    cure: isScope
      ? `Read every entry of ${isResource ? 'resourceSpans and of ' : ''}scopeSpans`
      : 'Read every entry of resourceSpans',
  };
}

/** Explains lost turns by the status of their spans: OTLP clients set it only to report an outcome. */
function explainStatus(
  missing: readonly SentSpan[],
  transcript: Transcript,
): LostTurns | undefined {
  const page = lastPolledPage(transcript);
  if (!page || !missing.every(isUnset)) return undefined;
  const others = sessionsOf(page).flatMap((session) => splitSpans(session, transcript));
  const shown = others.filter(({ isShown }) => isShown);
  const withStatus = shown.find(({ span }) => !isUnset(span));
  if (!withStatus || shown.some(({ span }) => isUnset(span))) return undefined;
  return {
    fault: `chat spans without a status become no turns, and those with one do (exchange ${carrierOf(withStatus.span)?.id})`,
    cure: 'Make a turn of each chat span, whatever its status: exporters leave it unset unless a call fails',
  };
}

const isUnset = ({ arrivals }: SentSpan): boolean =>
  arrivals.every(({ span }) => span.statusCode === 0);

/** Returns the spans of a listed conversation, and whether a turn shows them. */
function splitSpans(
  session: ResultsObject,
  transcript: Transcript,
): { span: SentSpan; isShown: boolean }[] {
  const { source_session_id: id } = session;
  if (typeof id !== 'string' || turnsOf(session).length === 0) return [];
  const { sent, missing } = compareTurns(session, id, transcript);
  return sent.map((span) => ({ span, isShown: !missing.includes(span) }));
}

/** Explains a span that became several turns. */
function explainRepetition({ arrivals }: SentSpan): LostTurns {
  const carriers = new Set(arrivals.map(({ exchange }) => exchange));
  if (carriers.size === 1) {
    return {
      fault: `a span that a request has twice (exchange ${arrivals[0]?.exchange.id}) becomes two turns`,
      cure: 'Make the span id a unique key. A look-up before the insert is not enough: spans of one request, and of requests at the same moment, are not stored yet',
    };
  }
  return {
    fault: `a span that is sent again (exchanges ${[...carriers].map(({ id }) => id).join(', ')}) becomes another turn`,
    cure: 'Ignore a span whose id is already stored, even if its text changed. Compare ids as bytes: JSON has them as hexadecimal digits of either case, protobuf as bytes',
  };
}
