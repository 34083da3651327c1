import { resolvePointer, type Endpoint } from '../../../src/contract/index.ts';
import type { Clock } from '../../../src/platform/clock.ts';
import type { ProxyResponse, ProxyRequest, Transform, TransformFactory } from './mutant.ts';
import { isObject, parseJson } from '../../../src/platform/json.ts';

/** Selects the requests that a distortion concerns. */
export type When = (request: ProxyRequest) => boolean;

/** A request to an endpoint. */
export type RequestTo<Of extends Endpoint> = ProxyRequest & { endpoint: Of };

/** Selects requests to an endpoint. */
export type WhenTo<Of extends Endpoint> = (request: ProxyRequest) => request is RequestTo<Of>;

/** Changes a response body in place. */
export type Edit = (body: Record<string, unknown>, request: ProxyRequest) => void;

/** Selects every request. */
export const always: When = () => true;

/** Sets a value, or what a function returns for the request, at a JSON pointer. Creates missing parents. */
export function set(pointer: string, value: unknown): Edit {
  return (body, request) => {
    const keys = pointer.split('/').slice(1);
    const last = keys.pop() ?? '';
    let here: Record<string, unknown> = body;
    for (const [index, key] of keys.entries()) {
      const next = here[key];
      const fresh = /^\d+$/.test(keys[index + 1] ?? last) ? [] : {};
      here = here[key] = typeof next === 'object' && next ? next : fresh;
    }
    here[last] =
      typeof value === 'function' ? (value as (request: ProxyRequest) => unknown)(request) : value;
  };
}

/** Deletes the value at a JSON pointer. */
export function drop(pointer: string): Edit {
  return (body) => {
    const cut = pointer.lastIndexOf('/');
    const parent = resolvePointer(body, pointer.slice(0, cut));
    if (typeof parent === 'object' && parent) {
      Reflect.deleteProperty(parent, pointer.slice(cut + 1));
    }
  };
}

/** Applies edits one after the other. */
export function combineEdits(...edits: Edit[]): Edit {
  return (body, request) => {
    for (const edit of edits) edit(body, request);
  };
}

/** Returns whether the response is a 2xx. */
export const isSuccess = ({ status }: ProxyResponse): boolean => status >= 200 && status < 300;

/** Returns whether the response is a 4xx or 5xx. */
export const isError = ({ status }: ProxyResponse): boolean => status >= 400;

/** Changes the responses to selected requests. */
export function changeResponse(
  when: When,
  change: (response: ProxyResponse, request: ProxyRequest) => ProxyResponse,
): TransformFactory {
  return () => async (request, forward) => {
    const response = await forward(request);
    return when(request) ? change(response, request) : response;
  };
}

/** Forwards requests unchanged. */
export const passThrough: TransformFactory = () => (request, forward) => forward(request);

/** Changes the selected requests. */
export function changeRequest(
  when: When,
  change: (request: ProxyRequest) => ProxyRequest,
): TransformFactory {
  return () => (request, forward) => forward(when(request) ? change(request) : request);
}

/** Edits the query of the selected requests. */
export const changeQuery = (when: When, edit: (query: URLSearchParams) => void): TransformFactory =>
  changeRequest(when, (request) => withQuery(request, edit));

/** Returns a request whose query is edited. */
export function withQuery(
  request: ProxyRequest,
  edit: (query: URLSearchParams) => void,
): ProxyRequest {
  const [path = '', text = ''] = request.path.split('?');
  const query = new URLSearchParams(text);
  edit(query);
  return { ...request, path: query.size === 0 ? path : `${path}?${query.toString()}` };
}

/** Returns a request with another body. */
export function withBody(
  { bytes: _bytes, ...request }: ProxyRequest,
  body: string,
  headers: Record<string, string> = {},
): ProxyRequest {
  return { ...request, body, json: parseJson(body), headers: { ...request.headers, ...headers } };
}

/** Selects requests to an endpoint. */
export function to<Of extends Endpoint>(endpoint: Of, when: When = always): WhenTo<Of> {
  return (request): request is RequestTo<Of> => request.endpoint === endpoint && when(request);
}

/** Edits the JSON object in a response body. Returns other responses unchanged. */
export function editBody(
  response: ProxyResponse,
  request: ProxyRequest,
  edit: Edit,
): ProxyResponse {
  const body = parseJson(response.body);
  if (!isObject(body)) return response;
  edit(body, request);
  return { ...response, body: JSON.stringify(body) };
}

/** Edits the bodies of 2xx responses of an endpoint. */
export function editAccepted(endpoint: Endpoint, ...edits: Edit[]): TransformFactory {
  return changeResponse(to(endpoint), (response, request) =>
    isSuccess(response) ? editBody(response, request, combineEdits(...edits)) : response,
  );
}

/** Edits the bodies of 4xx and 5xx responses. */
export function editErrors(when: When, ...edits: Edit[]): TransformFactory {
  return changeResponse(when, (response, request) =>
    isError(response) ? editBody(response, request, combineEdits(...edits)) : response,
  );
}

/** Replaces parts of a response, such as its status. */
export function replaceParts(
  when: When,
  parts: Partial<ProxyResponse>,
  of: (response: ProxyResponse) => boolean = () => true,
): TransformFactory {
  return changeResponse(when, (response) => (of(response) ? { ...response, ...parts } : response));
}

const JSON_TYPE = { 'content-type': 'application/json' };

/** Creates a response with a JSON body. */
export function jsonResponse(
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): ProxyResponse {
  return { status, headers: { ...JSON_TYPE, ...headers }, body: JSON.stringify(body) };
}

/** Responds to selected requests without forwarding them. */
export function respondInstead<Of extends Endpoint>(
  when: WhenTo<Of>,
  respond: (request: RequestTo<Of>, clock: Clock) => ProxyResponse,
): TransformFactory;
export function respondInstead(
  when: When,
  respond: (request: ProxyRequest, clock: Clock) => ProxyResponse,
): TransformFactory;
export function respondInstead(
  when: When,
  respond: (request: ProxyRequest, clock: Clock) => ProxyResponse,
): TransformFactory {
  return () => async (request, forward, clock) =>
    when(request) ? respond(request, clock) : forward(request);
}

/** How long a response waits for another one that may overlap with it. */
const OVERLAP_MS_MAX = 250;

/**
 * Returns a function that announces a request or response, and returns the wait for the next one. So
 * the state that concurrent requests share is mixed up on a busy machine, too.
 */
export function createOverlap(): (clock: Clock) => () => Promise<void> {
  let announce = (): void => {};
  return (clock) => {
    announce();
    const next = Promise.withResolvers<undefined>();
    announce = () => next.resolve(undefined);
    return async () => {
      await Promise.race([next.promise, clock.sleep(OVERLAP_MS_MAX)]);
    };
  };
}

/** Drops the connection of selected requests without forwarding them. */
export const dropInstead =
  (when: When): TransformFactory =>
  () =>
  async (request, forward) =>
    when(request) ? 'dropped' : forward(request);

/** Delays selected requests before forwarding them. */
export function delay(when: When, ms: number): TransformFactory {
  return () => async (request, forward, clock) => {
    if (when(request)) await clock.sleep(ms);
    return forward(request);
  };
}

/** Responds to the first selected request and forwards all others. */
export function respondOnce(
  when: When,
  respond: (request: ProxyRequest) => ProxyResponse,
): TransformFactory {
  return () => {
    let done = false;
    return async (request, forward) => {
      if (done || !when(request)) return forward(request);
      done = true;
      return respond(request);
    };
  };
}

/** Combines transforms: the first gets the request from the kit, the last one forwards it to the peer. */
export function chain(...factories: TransformFactory[]): TransformFactory {
  return () =>
    factories
      .map((factory) => factory())
      .reduceRight<Transform>(
        (inner, outer) => (request, forward, clock) =>
          outer(
            request,
            async (again) => {
              const result = await inner(again, forward, clock);
              if (result === 'dropped') throw new Error('the connection was dropped');
              return result;
            },
            clock,
          ),
        (request, forward) => forward(request),
      );
}
