import type { Endpoint } from '../../../src/contract/index.ts';
import { isObject } from '../../../src/platform/json.ts';

/** The endpoints that return scored sessions (spec 4.3, 4.4). */
export const resultsEndpoints = ['production', 'simulations'] as const;
export type ResultsEndpoint = (typeof resultsEndpoints)[number];

/** Returns whether an endpoint returns scored sessions. */
export const isResultsEndpoint = (endpoint: Endpoint): endpoint is ResultsEndpoint =>
  resultsEndpoints.some((name) => name === endpoint);

/** What the pages and sessions of an endpoint are called: "a production page", "a simulation session". */
export type SessionKind = 'production' | 'simulation';

/** Returns what the sessions of an endpoint are called. */
export const kindOf = (endpoint: ResultsEndpoint): SessionKind =>
  endpoint === 'production' ? 'production' : 'simulation';

/** The filters that match a name. */
export type NameFilter = 'run' | 'agent' | 'eval';

/** The filters of the time when a session started. */
export type TimeFilter = 'started_after' | 'started_before';

/** The path of each results endpoint. */
export const resultsPaths: Readonly<Record<ResultsEndpoint, string>> = {
  production: '/api/prod-evaluations/sessions/',
  simulations: '/api/simulations/sessions/',
};

/** A JSON object of a results page, such as a session or a turn. Its fields are not validated. */
export type ResultsObject = Record<string, unknown>;

/** Returns the sessions in the body of a results page; an empty list if the body has none. */
export function sessionsIn(body: unknown): ResultsObject[] {
  return isObject(body) ? objectsAt(body, 'items') : [];
}

/** Returns the objects in the array under a key; an empty list if there is no array. */
export function objectsAt(object: ResultsObject, key: string): ResultsObject[] {
  const list = object[key];
  return Array.isArray(list) ? list.filter(isObject) : [];
}

/** Returns the query parameters of a path; a name can occur repeatedly. */
export function queryIn(path: string): URLSearchParams {
  const mark = path.indexOf('?');
  return new URLSearchParams(mark < 0 ? '' : path.slice(mark + 1));
}

/** Returns the value of a query parameter of a path; undefined if the path does not have it. */
export const queryParameter = (path: string, name: string): string | undefined =>
  queryIn(path).get(name) ?? undefined;
