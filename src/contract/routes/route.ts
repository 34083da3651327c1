import type { MessageName } from '../validate.ts';

/** A JSON Schema of a parameter or header. `format: iso8601` is the format of the messages. */
export type ParameterSchema = Readonly<Record<string, unknown>>;

/** A parameter in the path, the query, or the headers of a request. */
export interface RouteParameter {
  name: string;
  in: 'path' | 'query' | 'header';
  description: string;
  schema: ParameterSchema;
  example?: string | number | boolean;
}

/** A header of a response. */
export interface RouteHeader {
  /** Whether every response with the status has it. */
  required: boolean;
  description: string;
  schema: ParameterSchema;
}

/** A body: a message in JSON, or bytes. */
export type RouteContent = { message: MessageName } | { bytes: string };

/** Bodies by media type. */
export type RouteContents = Readonly<Record<string, RouteContent>>;

/** A response of a route. */
export interface RouteResponse {
  description: string;
  content: RouteContents;
  headers?: Readonly<Record<string, RouteHeader>>;
  /** Whether the servers of the kit send the status, but the specification does not define it. */
  isExtension?: true;
  /** Bodies to show instead of the examples of the message, by name. */
  examples?: Readonly<Record<string, unknown>>;
}

/** An endpoint of the interface (spec 4). */
export interface Route {
  method: 'GET' | 'POST' | 'DELETE';
  /** Path with parameters in braces. */
  path: string;
  /** Name of the group of routes. */
  tag: string;
  /** One line that starts with a verb, without a full stop. */
  summary: string;
  description: string;
  /** Sections of the specification. */
  spec: string;
  /** Whether the request has an API key (spec 5). */
  hasKey: boolean;
  parameters: readonly RouteParameter[];
  body?: RouteContents;
  /** Responses by status, or by `2XX` and `4XX` if the specification leaves the status open. */
  responses: Readonly<Record<string, RouteResponse>>;
}

/** The routes of an area by the id of the operation, which generated clients use as a method name. */
export type Routes = Readonly<Record<string, Route>>;

/** Returns the summaries of routes by method and path: `POST /users`. */
export function listSummaries(routes: Routes): Record<string, string> {
  return Object.fromEntries(
    Object.values(routes).map(({ method, path, summary }) => [`${method} ${path}`, summary]),
  );
}

export const JSON_TYPE = 'application/json';

/** Returns the content of a body that is always JSON. */
export function json(message: MessageName): RouteContents {
  return { [JSON_TYPE]: { message } };
}

/** Returns a `Retry-After` header with the delay in seconds. */
export function retryAfter(required: boolean): Record<'Retry-After', RouteHeader> {
  return {
    'Retry-After': {
      required,
      description: 'Seconds to wait before the request is sent again.',
      schema: { type: 'integer', minimum: 0 },
    },
  };
}

/**
 * Returns the source of a regular expression for the path of a route, whose slash at the end may be
 * missing.
 * @param parameter The pattern of a path parameter (default: one segment that is not empty).
 */
export const pathPattern = ({ path }: Pick<Route, 'path'>, parameter = '[^/]+'): string =>
  path.replaceAll(/\{\w+\}/g, parameter).replace(/\/$/, '/?');
