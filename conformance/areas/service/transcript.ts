import { gunzipSync } from 'node:zlib';
import {
  listAt,
  PAGE_LIMIT_DEFAULT,
  PAGE_LIMIT_MAX,
  readTraceRequest,
  resolvePointer,
  type Endpoint,
  type TraceSpan,
} from '../../../src/contract/index.ts';
import { decodeTraceRequest } from '../../../src/contract/otlp-protobuf.ts';
import { instantMs, isoTime } from '../../../src/platform/clock.ts';
import { computeOnce } from '../../../src/platform/compute-once.ts';
import { isObject, parseJson } from '../../../src/platform/json.ts';
import {
  decodePathSegment,
  type Exchange,
  isAccepted,
  isRateLimited,
  type Transcript,
} from '../../engine/transcript/reading.ts';
import type { OwnerName } from './context.ts';
import type { StepOf, TracesStep } from './steps.ts';
import {
  queryParameter,
  sessionsIn,
  type ResultsEndpoint,
  type ResultsObject,
} from './results-api.ts';

/** Returns the sessions that a response lists. */
export const sessionsOf = ({ json }: Exchange): ResultsObject[] => sessionsIn(json);

/** Returns the `total` of a page, which may be of any type. */
export const totalOf = ({ json }: Exchange): unknown => resolvePointer(json, '/total');

/** Returns a predicate for successful reads of a results endpoint that have a list of items. */
export const isResultsPage =
  (endpoint: ResultsEndpoint) =>
  (exchange: Exchange): boolean =>
    exchange.endpoint === endpoint &&
    exchange.intent !== 'refuse' &&
    isAccepted(exchange) &&
    Array.isArray(resolvePointer(exchange.json, '/items'));

/** Returns whether an exchange is one of these steps of an endpoint. */
export const isStep = <Of extends Endpoint>(
  exchange: Exchange,
  endpoint: Of,
  ...steps: readonly StepOf<Of>[]
): boolean => exchange.endpoint === endpoint && steps.some((step) => step === exchange.step);

/** Returns the last exchange of a step that the service accepted. */
export function lastAccepted<Of extends Endpoint>(
  { exchanges }: Transcript,
  endpoint: Of,
  step: StepOf<Of>,
): Exchange | undefined {
  return exchanges.findLast(
    (exchange) => exchange.endpoint === endpoint && exchange.step === step && isAccepted(exchange),
  );
}

/** Returns the value of a query parameter of a request. */
export const queryOf = ({ request }: Exchange, name: string): string | undefined =>
  queryParameter(request.path, name);

const INFLATED_BYTES_MAX = 20_000_000;

/** Returns the spans of a trace request in any encoding; an empty list if they are unreadable. */
export const sentSpans = computeOnce(
  ({ endpoint, request, sent }: Exchange): readonly TraceSpan[] => {
    if (endpoint !== 'traces') return [];
    const { headers, bodyBase64 } = request;
    try {
      if (bodyBase64 === undefined) return readTraceRequest(sent).spans;
      const bytes = Buffer.from(bodyBase64, 'base64');
      const plain =
        headers['content-encoding'] === 'gzip'
          ? gunzipSync(bytes, { maxOutputLength: INFLATED_BYTES_MAX })
          : bytes;
      return headers['content-type'] === 'application/x-protobuf'
        ? decodeTraceRequest(plain).spans
        : readTraceRequest(JSON.parse(plain.toString('utf8'))).spans;
    } catch {
      return [];
    }
  },
);

/** Returns the first trace request of a step that was not refused because of its rate. */
export const findTraces = ({ exchanges }: Transcript, step: TracesStep): Exchange | undefined =>
  exchanges.find((exchange) => isStep(exchange, 'traces', step) && !isRateLimited(exchange));

/** Returns the conversation id of a trace request or an end call. */
export function conversationIdOf(exchange: Exchange): string | undefined {
  if (exchange.endpoint === 'end') return endedConversationOf(exchange);
  const ids = sentSpans(exchange).map(({ attributes }) => attributes['gen_ai.conversation.id']);
  const spanId = ids.find((id) => typeof id === 'string');
  return typeof spanId === 'string' ? spanId : exchange.request.headers['x-conversation-id'];
}

/** Returns the conversation id in the path of an end call; undefined if its encoding is invalid. */
export function endedConversationOf({ request }: Exchange): string | undefined {
  const [, id] = /^\/v1\/sessions\/([^/?]*)\/end/.exec(request.path) ?? [];
  return id === undefined ? undefined : decodePathSegment(id);
}

/** Returns whether the service accepted every trace request of a conversation. */
export function isConversationAccepted(id: string | undefined, { exchanges }: Transcript): boolean {
  const requests = exchanges.filter(
    (exchange) =>
      exchange.endpoint === 'traces' &&
      exchange.intent === 'valid' &&
      conversationIdOf(exchange) === id,
  );
  return id !== undefined && requests.length > 0 && requests.every(isAccepted);
}

/** Returns whether a page was read by a probe that waited until the service had run all queued evals. */
export const isReadAfterDrain = (page: Exchange, { exchanges }: Transcript): boolean =>
  exchanges.some(
    (exchange) =>
      isStep(exchange, 'admin', 'drain') && exchange.probe === page.probe && isAccepted(exchange),
  );

/** Returns the last page that was read while the run waited for scores. */
export const lastPolledPage = (transcript: Transcript): Exchange | undefined =>
  lastAccepted(transcript, 'production', 'results');

/** Returns the polled session of the conversation that a trace request sent. */
export function findSession(transcript: Transcript, step: TracesStep): ResultsObject | undefined {
  const page = lastPolledPage(transcript);
  const request = transcript.exchanges.find((exchange) => isStep(exchange, 'traces', step));
  const id = request && conversationIdOf(request);
  return id === undefined ? undefined : sessionsById(page, id)[0];
}

/** Returns the sessions of a page that have a conversation id. */
export const sessionsById = (
  page: Exchange | undefined,
  id: string | undefined,
): ResultsObject[] =>
  page ? sessionsOf(page).filter((session) => session['source_session_id'] === id) : [];

/**
 * Returns the chat spans of a conversation that the service accepted, by start time. A span that was
 * sent several times is as it was sent first.
 */
export function sentChatSpans(id: string, transcript: Transcript): TraceSpan[] {
  const spans = listChatSpanArrivals(id, transcript).map(({ span }) => span);
  const byId = new Map(spans.toReversed().map((span) => [span.spanId, span]));
  return [...byId.values()].sort((left, right) => Number(left.startNs - right.startNs));
}

/** Returns the chat spans of a conversation in the requests that the service accepted, in their order. */
export const listChatSpanArrivals = (
  id: string,
  { exchanges }: Transcript,
): { exchange: Exchange; span: TraceSpan }[] =>
  exchanges
    .filter(
      (exchange) =>
        exchange.endpoint === 'traces' && isAccepted(exchange) && conversationIdOf(exchange) === id,
    )
    .flatMap((exchange) => sentSpans(exchange).map((span) => ({ exchange, span })))
    .filter(({ span }) => span.attributes['gen_ai.operation.name'] === 'chat');

/** Returns when the first chat span of a conversation starts, as ISO 8601. */
export function sentStartOf(id: string, transcript: Transcript): string {
  const [first] = sentChatSpans(id, transcript);
  return isoTime(Number((first?.startNs ?? 0n) / 1_000_000n));
}

/** Returns the texts of the parts of the last message in an attribute of a span. */
export function messageTexts(span: TraceSpan, key: string): string[] {
  const value = span.attributes[key];
  if (typeof value !== 'string') return [];
  return listAt(listAt(parseJson(value), '').at(-1), '/parts').flatMap((part) => {
    const text = resolvePointer(part, '/content');
    return typeof text === 'string' ? [text] : [];
  });
}

/** Returns the turns that a session shows. */
export function turnsOf({ traces }: ResultsObject): unknown[] {
  return Array.isArray(traces) ? traces : [];
}

/** Returns when a session started, in milliseconds since the Unix epoch. */
export function startedAtMs({ started_at: startedAt }: ResultsObject): number | undefined {
  return typeof startedAt === 'string' ? instantMs(startedAt) : undefined;
}

const countOf = (page: Exchange, name: string, otherwise: number): number => {
  const count = Number(queryOf(page, name) ?? otherwise);
  return Number.isInteger(count) && count >= 0 ? count : otherwise;
};

/** Returns how many sessions a page skips. */
export const skipOf = (page: Exchange): number => countOf(page, 'skip', 0);

/** Returns how many sessions a page may list. */
export const limitOf = (page: Exchange): number =>
  Math.min(PAGE_LIMIT_MAX, countOf(page, 'limit', PAGE_LIMIT_DEFAULT));

/** Returns whether a page is full, and its `total` counts more sessions. */
export function isCutOff(page: Exchange): boolean {
  const total = totalOf(page);
  const { length } = sessionsOf(page);
  return typeof total === 'number' && length < total && length >= limitOf(page);
}

/** Sessions this close to the oldest one of a page may be before or after it: times may be rounded. */
const PRECISION_MS = 1_000;

/** Returns whether a session is too old for a page that lists only the newest sessions. */
export function isBeyond(page: Exchange, startMs: number): boolean {
  const oldestMs = Math.min(...sessionsOf(page).flatMap((session) => startedAtMs(session) ?? []));
  return isCutOff(page) && startMs < oldestMs + PRECISION_MS;
}

/** Returns a number of the session's `outcome_summary`. */
export function summaryNumber(session: ResultsObject, name: string): number | undefined {
  const value = resolvePointer(session, `/outcome_summary/${name}`);
  return typeof value === 'number' ? value : undefined;
}

/** The step that reads the results of a new owner, to find out whether it was created. */
export const SEEDED_KEY_STEP = 'key of a new owner';

/** Returns whether the run created its owners through the control API, and one of their keys works. */
export function hasControlApi({ exchanges }: Transcript): boolean {
  const requests = exchanges.filter(
    ({ endpoint, step }) =>
      (endpoint === 'admin' && step.startsWith('make ')) || step === SEEDED_KEY_STEP,
  );
  return requests.length > 0 && requests.every(isAccepted);
}

/** Returns the seed document that the run sent for an owner. */
export function sentSeed({ exchanges }: Transcript, owner: OwnerName): unknown {
  return exchanges.find((exchange) => isStep(exchange, 'admin', `make ${owner}`))?.sent;
}

/** Returns the number of evals that score the live traces of an owner, according to its seed. */
export function seededEvalCount(transcript: Transcript, owner: OwnerName): number {
  const ids = resolvePointer(sentSeed(transcript, owner), '/settings/evals');
  return Array.isArray(ids) ? ids.length : 0;
}

/** A simulation session that the run seeded. */
export interface SeededSession {
  simulation: unknown;
  agent: unknown;
  scenario: unknown;
  /** Unique among the seeded sessions. */
  persona: unknown;
  startMs: number;
  /** Whether its simulation was deleted. */
  isDeleted: boolean;
  turns: unknown[];
  outcomes: ResultsObject[];
}

/** Returns the simulation sessions that the run seeded. */
export function seededSessions(transcript: Transcript): SeededSession[] {
  const simulations = listAt(sentSeed(transcript, 'main'), '/simulations');
  return simulations.flatMap((simulation) =>
    listAt(simulation, '/sessions').map((session) => ({
      simulation: resolvePointer(simulation, '/name'),
      agent: resolvePointer(simulation, '/agent'),
      scenario: resolvePointer(session, '/scenario'),
      persona: resolvePointer(session, '/persona'),
      startMs: instantMs(String(resolvePointer(session, '/started_at'))) ?? 0,
      isDeleted: resolvePointer(simulation, '/deleted') === true,
      turns: listAt(session, '/turns'),
      outcomes: listAt(session, '/outcomes').filter(isObject),
    })),
  );
}

/** Returns the seeded session that a listed session corresponds to. */
export function findSeededSession(
  session: ResultsObject,
  transcript: Transcript,
): SeededSession | undefined {
  return seededSessions(transcript).find(({ persona }) => persona === session['persona']);
}

/** Returns the transcript that the run uploaded, if it was accepted. */
export function findUpload(transcript: Transcript): ResultsObject | undefined {
  const sent = lastAccepted(transcript, 'admin', 'upload')?.sent;
  return isObject(sent) ? sent : undefined;
}
