import {
  listAt,
  PAGE_LIMIT_DEFAULT,
  PAGE_LIMIT_MAX,
  resolvePointer,
  SERVICE_API_KEY_HEADER,
} from '../../../src/contract/index.ts';
import { LONGER_KEY_END, WRONG_KEY } from '../../engine/drive/outgoing.ts';
import { isObject } from '../../../src/platform/json.ts';
import {
  always,
  changeQuery,
  changeResponse,
  editBody,
  isSuccess,
  jsonResponse,
  to,
  withQuery,
  type When,
} from '../../engine/mutants/combinators.ts';
import type {
  ProxyRequest,
  ProxyResponse,
  Transform,
  TransformFactory,
} from '../../engine/mutants/mutant.ts';
import {
  objectsAt,
  queryParameter,
  sessionsIn,
  type ResultsEndpoint,
  type ResultsObject,
} from './results-api.ts';

/** For mutants whose run waits for results that never arrive. */
export const fastClock = { clockFactor: 20 } as const;

/** For distortions that only an intrusive run detects. */
export const intrusiveOnly = { intrusive: true } as const;

/** Creates an error response of the service. */
export const refusal = (status: number): ProxyResponse =>
  jsonResponse(status, { message: 'Refused.' });

/** The response to an accepted trace request. */
export const emptyTraceResponse: ProxyResponse = jsonResponse(200, {});

export const hasKey: When = ({ headers }) => headers[SERVICE_API_KEY_HEADER] !== undefined;

/** Matches requests with the key that every probe uses as the wrong one. */
export const hasWrongKey: When = ({ headers }) => headers[SERVICE_API_KEY_HEADER] === WRONG_KEY;

/** Matches requests with a valid key and further characters. */
export const hasLongerKey: When = ({ headers }) =>
  headers[SERVICE_API_KEY_HEADER]?.endsWith(LONGER_KEY_END) === true;

export const hasValidKey: When = (request) =>
  hasKey(request) && !hasWrongKey(request) && !hasLongerKey(request);

/** Matches requests that the specified interface refuses because of their key. */
export const isUnauthorized: When = (request) => isSpecified(request) && !hasValidKey(request);

/** Matches requests to the specified interface, which excludes the control API. */
export const isSpecified: When = ({ endpoint }) => endpoint !== undefined && endpoint !== 'admin';

/** Matches requests that have a query parameter, and that value if one is given. */
export const hasQuery =
  (name: string, value?: string): When =>
  ({ path }) => {
    const received = queryParameter(path, name);
    return value === undefined ? received !== undefined : received === value;
  };

/** Matches requests for failing sessions. */
export const wantsFailures = hasQuery('failed_only', 'true');

/** Matches requests that ask for turns. */
export const wantsTraces = hasQuery('include_traces', 'true');

/**
 * Returns a condition for all requests of a run, which matches those with a further key of an owner. In
 * a recording, all keys are redacted and look alike, so only a run shows what such a mutant does.
 */
export function matchFurtherKeys(): When {
  const furtherKeys = new Set<unknown>();
  return ({ endpoint, headers, json }) => {
    const seeded = endpoint === 'admin' ? listAt(json, '/keys') : [];
    for (const key of seeded.slice(1)) furtherKeys.add(resolvePointer(key, '/key'));
    return furtherKeys.has(headers[SERVICE_API_KEY_HEADER]);
  };
}

/** Inverts a condition. */
export const not =
  (when: When): When =>
  (request) =>
    !when(request);

/** Returns an edit that sets the value of a key. */
export const setKey =
  (key: string, value: unknown) =>
  (object: ResultsObject): void => {
    object[key] = value;
  };

/** Returns an edit that removes a key. */
export const removeKey =
  (key: string) =>
  (object: ResultsObject): void => {
    Reflect.deleteProperty(object, key);
  };

/** Edits the results pages of an endpoint. */
export function onPages(
  endpoint: ResultsEndpoint,
  edit: (page: ResultsObject, request: ProxyRequest) => void,
  when: When = always,
): TransformFactory {
  return changeResponse(to(endpoint, when), (response, request) =>
    isSuccess(response) ? editBody(response, request, edit) : response,
  );
}

/** Edits each session on the results pages of an endpoint. */
export function onSessions(
  endpoint: ResultsEndpoint,
  edit: (session: ResultsObject, request: ProxyRequest) => void,
  when: When = always,
): TransformFactory {
  return onPages(
    endpoint,
    (page, request) => {
      for (const session of sessionsIn(page)) edit(session, request);
    },
    when,
  );
}

/** Edits a session in a response. */
export type SessionEdit = (session: ResultsObject) => void;

/** Edits the outcome summary of sessions. */
export const onSummary =
  (edit: (summary: ResultsObject) => void): SessionEdit =>
  (session) =>
    edit(objectAt(session, 'outcome_summary'));

/** Returns the object under a key, or a new empty object. */
export function objectAt(object: ResultsObject, key: string): ResultsObject {
  const value = object[key];
  return isObject(value) ? value : {};
}

/** Rewrites the query before the service receives the request. */
export function rewriteQuery(
  endpoint: ResultsEndpoint,
  edit: (query: URLSearchParams) => void,
  when: When = always,
): TransformFactory {
  return changeQuery(to(endpoint, when), edit);
}

/** Lists only some of the production sessions: pages and totals are as if there were no others. */
export const listOnly =
  (isListed: (session: ResultsObject) => boolean): Transform =>
  async (request, forward) => {
    const skip = Number(queryParameter(request.path, 'skip') ?? 0);
    const limit = Number(queryParameter(request.path, 'limit') ?? PAGE_LIMIT_DEFAULT);
    const isValid = Number.isInteger(skip) && skip >= 0 && limit > 0 && limit <= PAGE_LIMIT_MAX;
    if (request.endpoint !== 'production' || !isValid) return forward(request);
    const response = await forward(
      withQuery(request, (query) => {
        query.set('limit', String(PAGE_LIMIT_MAX));
        query.delete('skip');
      }),
    );
    if (!isSuccess(response)) return response;
    return editBody(response, request, (page) => {
      const listed = sessionsIn(page).filter(isListed);
      const items = listed.slice(skip, skip + limit);
      Object.assign(page, { items, total: listed.length, skip, limit });
    });
  };

/** Returns the body of a request as text; of protobuf, also what is not UTF-8. */
export const textOf = ({ body, bytes }: ProxyRequest): string =>
  bytes === undefined ? body : Buffer.from(bytes).toString('utf8');

/** Returns the conversation ids of the run in a text, without duplicates. */
export function conversationIdsIn(text: string): string[] {
  return [...new Set(text.match(/sk-[a-z0-9]{8}-[a-z0-9]{8}/g) ?? [])];
}

/** Returns the span ids in the body of a JSON trace request. */
export const spanIdsIn = (body: string): string[] =>
  [...body.matchAll(/"spanId":"(\w+)"/g)].map(([, id = '']) => id);

/** Returns the first conversation id of the run in a text. */
export const conversationIdIn = (text: string): string | undefined => conversationIdsIn(text)[0];

/** Returns whether an end call closed a conversation without evals for the first time. */
export const closesUnscored = ({ body }: ProxyResponse): boolean =>
  /"evaluations_queued":0(?!.*already)/.test(body);

/** Edits the production sessions of conversations that were closed more than once. */
export function onSessionsClosedTwice(edit: SessionEdit): Transform {
  const closes = new Map<string, number>();
  const editClosed = onSessions('production', (session) => {
    if ((closes.get(String(session['source_session_id'])) ?? 0) > 1) edit(session);
  })();
  return async (request, forward, clock) => {
    if (request.endpoint !== 'end') return editClosed(request, forward, clock);
    const response = await forward(request);
    const id = conversationIdIn(request.path);
    if (isSuccess(response) && id) closes.set(id, (closes.get(id) ?? 0) + 1);
    return response;
  };
}

/** Returns whether a run is one of live traces with the default name. */
export const isLiveRun = (run: unknown): boolean => String(run).startsWith('Live traces');

/** Returns by how many milliseconds a request advances the service clock. */
export const clockAdvanceMs = ({ endpoint, json: body }: ProxyRequest): number =>
  endpoint === 'admin' && isObject(body) ? Number(body['advance_ms'] ?? 0) : 0;

/** Doubles the outcomes of a session, as if it had been scored twice. */
export function doubleOutcomes(session: ResultsObject): void {
  const outcomes = objectsAt(session, 'eval_outcomes');
  session['eval_outcomes'] = [...outcomes, ...outcomes];
  const summary = objectAt(session, 'outcome_summary');
  for (const key of ['total_evaluations', 'passed_count', 'failed_count']) {
    summary[key] = Number(summary[key]) * 2;
  }
}
