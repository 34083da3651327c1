import { WRONG_KEY } from '../drive/outgoing.ts';
import type { When } from './combinators.ts';
import type { ProxyRequest } from './mutant.ts';
import { isObject } from '../../../src/platform/json.ts';

/** The bearer key is the wrong one that probes send. */
export const hasWrongKey: When = ({ headers }) =>
  headers['authorization'] === `Bearer ${WRONG_KEY}`;

/** The body is an object with exactly these keys. */
export function hasKeys(...keys: string[]): When {
  const wanted = keys.sort().join();
  return ({ json }) => isObject(json) && Object.keys(json).sort().join() === wanted;
}

/** Returns whether a value is an object with other keys than these. */
export const hasOtherKeys = (value: unknown, keys: readonly string[]): boolean =>
  isObject(value) && Object.keys(value).some((key) => !keys.includes(key));

/** The body is an object without this key. */
export function lacks(key: string): When {
  return ({ json }) => isObject(json) && !Object.hasOwn(json, key);
}

/** The value of a key of the body matches. */
export function where(key: string, is: (value: unknown) => boolean): When {
  return ({ json }) => isObject(json) && Object.hasOwn(json, key) && is(json[key]);
}

/** Returns all messages of a chat request as one JSON text. */
export function messagesTextOf({ json }: ProxyRequest): string {
  return isObject(json) ? JSON.stringify(json['messages'] ?? '') : '';
}

/** Returns the value of a key of the body if it is a string. */
export function stringAt(key: string, { json }: ProxyRequest): string | undefined {
  const value = isObject(json) ? json[key] : undefined;
  return typeof value === 'string' ? value : undefined;
}

/** Returns the user id in the path of `DELETE /users/{user_id}`. */
export function userIdOf({ path }: ProxyRequest): string {
  return decodeURIComponent(path.slice('/users/'.length));
}

/** The body is text other than JSON. */
export const isNotJson: When = ({ json, body }) => json === undefined && body !== '';

/** A second value after the JSON object of a body. */
export const TEXT_AFTER_JSON = ' {"and": "more"}';

/** The body is a JSON object that is followed by other text. */
export const hasTextAfterJson: When = (request) =>
  isNotJson(request) && request.body.endsWith(TEXT_AFTER_JSON);

/** The body is JSON, but its strings are in single quotes. */
export const hasSingleQuotes: When = (request) =>
  isNotJson(request) && request.body.startsWith("{'");

/** The request has no body. */
export const isEmptyBody: When = ({ body }) => body === '';

/** The body is a JSON array. */
export const isJsonArray: When = ({ json }) => Array.isArray(json);

/** The body is not a JSON object. */
export const isNotJsonObject: When = (request) =>
  isNotJson(request) || isEmptyBody(request) || isJsonArray(request);
