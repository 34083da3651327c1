import { gunzipSync } from 'node:zlib';
import {
  decodeTraceRequest,
  readTraceRequest,
  valueAt,
  type TraceSpan,
} from '../../../src/contract/index.ts';
import { instantMs } from '../../../src/platform/clock.ts';
import { notJudged, type Check } from '../../engine/checks/check.ts';
import { isObject } from '../../../src/platform/json.ts';
import { type Exchange, type Transcript, isAccepted } from '../../engine/transcript/reading.ts';

/** The two endpoints of results. */
export type Results = 'production' | 'simulations';

/** A session as it stands in a page; nothing of it is known to be right. */
export type Item = Record<string, unknown>;

/** What a page lists, where it lists objects. */
export function sessionsOf({ json }: Exchange): Item[] {
  const items = valueAt(json, '/items');
  return Array.isArray(items) ? items.filter(isObject) : [];
}

/** Whether an exchange is a read of an endpoint that was answered with a list. */
export const isPage =
  (endpoint: Results) =>
  (one: Exchange): boolean =>
    one.endpoint === endpoint &&
    one.intent !== 'refuse' &&
    isAccepted(one) &&
    Array.isArray(valueAt(one.json, '/items'));

/** The last answer of a step that was accepted. */
export function lastOf(
  { exchanges }: Transcript,
  endpoint: Exchange['endpoint'],
  step: string,
): Exchange | undefined {
  return exchanges.findLast(
    (one) => one.endpoint === endpoint && one.step === step && isAccepted(one),
  );
}

/** The value of a query parameter of a request. */
export function asked({ request }: Exchange, name: string): string | undefined {
  const mark = request.path.indexOf('?');
  const query = new URLSearchParams(mark < 0 ? '' : request.path.slice(mark + 1));
  return query.get(name) ?? undefined;
}

const read = new WeakMap<Exchange, readonly TraceSpan[]>();

/** The spans that a request carried, whatever its form; none where it carried none that can be read. */
export function spansSent(one: Exchange): readonly TraceSpan[] {
  const known = read.get(one);
  if (known) return known;
  const spans = one.endpoint === 'traces' ? readSpans(one) : [];
  read.set(one, spans);
  return spans;
}

function readSpans({ request, sent }: Exchange): readonly TraceSpan[] {
  const { headers, bodyBase64 } = request;
  try {
    if (bodyBase64 === undefined) return readTraceRequest(sent).spans;
    const bytes = Buffer.from(bodyBase64, 'base64');
    const plain =
      headers['content-encoding'] === 'gzip'
        ? gunzipSync(bytes, { maxOutputLength: 20_000_000 })
        : bytes;
    return headers['content-type'] === 'application/x-protobuf'
      ? decodeTraceRequest(plain).spans
      : readTraceRequest(JSON.parse(plain.toString('utf8'))).spans;
  } catch {
    return [];
  }
}

/** The conversation that a trace request is about, or an end call. */
export function conversationIdOf(one: Exchange): string | undefined {
  if (one.endpoint === 'end') {
    const [, id] = /^\/v1\/sessions\/([^/]*)\/end$/.exec(one.request.path) ?? [];
    return id === undefined ? undefined : decoded(id);
  }
  const ids = spansSent(one).map(({ attributes }) => attributes['gen_ai.conversation.id']);
  const own = ids.find((id) => typeof id === 'string');
  return typeof own === 'string' ? own : one.request.headers['x-conversation-id'];
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Whether the trace requests of a conversation were all taken, before the exchange came. */
export function isSent(id: string | undefined, { exchanges }: Transcript): boolean {
  const sent = exchanges.filter(
    (one) => one.endpoint === 'traces' && one.intent === 'valid' && conversationIdOf(one) === id,
  );
  return id !== undefined && sent.length > 0 && sent.every(isAccepted);
}

/** The page that was read last while results were waited for. */
export const resultsOf = (transcript: Transcript): Exchange | undefined =>
  lastOf(transcript, 'production', 'results');

/** The session of the conversation that a step sent, in the results. */
export function findSession(transcript: Transcript, step: string): Item | undefined {
  const page = resultsOf(transcript);
  const sent = transcript.exchanges.find((one) => one.endpoint === 'traces' && one.step === step);
  const id = sent && conversationIdOf(sent);
  if (!page || id === undefined) return undefined;
  return sessionsOf(page).find((item) => item['source_session_id'] === id);
}

/** The chat spans of a conversation, each once, by their start. */
export function chatsOf(id: string, { exchanges }: Transcript): TraceSpan[] {
  const spans = exchanges
    .filter((one) => one.endpoint === 'traces' && conversationIdOf(one) === id)
    .flatMap(spansSent)
    .filter(({ attributes }) => attributes['gen_ai.operation.name'] === 'chat');
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  return [...byId.values()].sort((one, other) => (one.startNs < other.startNs ? -1 : 1));
}

/** The text of the only message of a span's attribute. */
export function textIn(span: TraceSpan, key: string): string | undefined {
  const value = span.attributes[key];
  if (typeof value !== 'string') return undefined;
  try {
    const text = valueAt(JSON.parse(value), '/0/parts/0/content');
    return typeof text === 'string' ? text : undefined;
  } catch {
    return undefined;
  }
}

/** The turns of a session as it stands in a page. */
export function turnsOf(item: Item): unknown[] {
  const { traces } = item;
  return Array.isArray(traces) ? traces : [];
}

/** When a session started, in milliseconds since the Unix epoch. */
export function startMs(item: Item): number | undefined {
  const at = item['started_at'];
  return typeof at === 'string' ? instantMs(at) : undefined;
}

/** A count of a session's summary. */
export function countOf(item: Item, name: string): number | undefined {
  const count = valueAt(item, `/outcome_summary/${name}`);
  return typeof count === 'number' ? count : undefined;
}

/** Whether the run could set up the service through its control API. */
export function hasControl({ exchanges }: Transcript): boolean {
  const made = exchanges.filter((one) => one.endpoint === 'admin' && /^make /.test(one.step));
  return made.length > 0 && made.every(isAccepted);
}

/** What the control API was asked to seed for an owner. */
export function seedOf({ exchanges }: Transcript, owner: string): unknown {
  return exchanges.find((one) => one.endpoint === 'admin' && one.step === `make ${owner}`)?.sent;
}

/** Not seen, since it takes a control API that is not there; else as given. */
export function needsControl(otherwise: Check['unjudged']): Check['unjudged'] {
  const absent = notJudged('not_observed', 'It takes a control API to set up, and there is none.');
  return (transcript) => (hasControl(transcript) ? otherwise(transcript) : absent(transcript));
}

/** Not seen, since the run was not intrusive; else as given. */
export function needsIntrusion(otherwise: Check['unjudged']): Check['unjudged'] {
  const spared = notJudged('not_observed', 'Only an intrusive run sends it: see --intrusive.');
  return (transcript) => (transcript.run.intrusive ? otherwise(transcript) : spared(transcript));
}
