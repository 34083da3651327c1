import { fetch, type Agent, type Headers } from 'undici';
import type { Test } from 'tap';
import { findViolations, type MessageName } from '../../../src/contract/index.ts';

/** A response of a server. */
export interface HttpResponse {
  status: number;
  headers: Headers;
  text: string;
  /** The parsed body; undefined if it is not JSON. */
  json: unknown;
}

/** A request: `body` is sent as JSON, `raw` unchanged. */
export interface SendOptions {
  body?: unknown;
  raw?: string | Uint8Array;
  headers?: Record<string, string>;
}

/** Sends a request to a route, such as `GET /health`. */
export type Send = (route: string, options?: SendOptions) => Promise<HttpResponse>;

/** The header of a request with a JSON body. */
export const JSON_CONTENT = { 'content-type': 'application/json' };

/** Creates a function that sends requests to the server with this URL. */
export function createSend(url: string, dispatcher: Agent): Send {
  return async (route, { body, raw, headers = {} } = {}) => {
    const [method = '', path = ''] = route.split(' ');
    const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await fetch(url + path, {
      method,
      dispatcher,
      headers: { ...(body !== undefined && JSON_CONTENT), ...headers },
      ...(payload !== undefined && { body: payload }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: parseJson(text) };
  };
}

/** Parses JSON without the limits of the kit's `parseJson`; returns undefined if it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Asserts the status, and that the body conforms to the schema of the message. */
export function assertResponse(
  t: Test,
  response: HttpResponse,
  status: number,
  message: MessageName,
): void {
  t.equal(response.status, status, `status ${status}: ${response.text.slice(0, 200)}`);
  t.same(findViolations(message, response.json), [], `conforms to ${message}`);
}
