import type { RequirementId } from '../../areas/index.ts';
import type { When } from './combinators.ts';
import type { ProxyRequest } from './mutant.ts';
import { isObject } from '../../../src/platform/json.ts';

/** The body has exactly these keys. */
export function hasKeys(...keys: string[]): When {
  const wanted = keys.sort().join();
  return ({ json }) => isObject(json) && Object.keys(json).sort().join() === wanted;
}

/** The body is an object without this key. */
export function lacks(key: string): When {
  return ({ json }) => isObject(json) && !Object.hasOwn(json, key);
}

/** The value of the body under a key is such. */
export function where(key: string, is: (value: unknown) => boolean): When {
  return ({ json }) => isObject(json) && Object.hasOwn(json, key) && is(json[key]);
}

/** All the text of the messages, whatever their shape. */
export function saidIn({ json }: ProxyRequest): string {
  return isObject(json) ? JSON.stringify(json['messages'] ?? '') : '';
}

/** The value of a string under a key of the body. */
export function textAt(key: string, { json }: ProxyRequest): string | undefined {
  const value = isObject(json) ? json[key] : undefined;
  return typeof value === 'string' ? value : undefined;
}

/** The user of whom `DELETE /users/{user_id}` speaks. */
export function userOf({ path }: ProxyRequest): string {
  return decodeURIComponent(path.slice('/users/'.length));
}

/** A request that must be refused: what tells it, and the requirement that says so. */
export interface Malformed {
  when: When;
  requirement: RequirementId;
}

const message = (is: (only: unknown) => boolean): When => ofMessages(1, 0, is);

/** One of so many messages is such. */
function ofMessages(count: number, index: number, is: (one: unknown) => boolean): When {
  return where(
    'messages',
    (messages) => Array.isArray(messages) && messages.length === count && is(messages[index]),
  );
}

const inMessage = (key: string, is: (value: unknown) => boolean): When =>
  message((first) => isObject(first) && Object.hasOwn(first, key) && is(first[key]));
const withoutKey = (key: string): When =>
  message((first) => isObject(first) && !Object.hasOwn(first, key));

const isString = (value: unknown): boolean => typeof value === 'string';
const isNumber = (value: unknown): boolean => typeof value === 'number';
const isNull = (value: unknown): boolean => value === null;
const is = (wanted: string) => (value: unknown) => value === wanted;

const notJson: When = ({ json, body }) => json === undefined && body !== '';
const empty: When = ({ body }) => body === '';
const anArray: When = ({ json }) => Array.isArray(json);

/** The body is not a JSON object. */
export const isNoObject: When = (asked) => notJson(asked) || empty(asked) || anArray(asked);

/** Every malformed chat request that the judge sends. */
export const malformedChats: Readonly<Record<string, Malformed>> = {
  'messages-missing': { when: lacks('messages'), requirement: 'CHAT-060' },
  'messages-a-string': { when: where('messages', isString), requirement: 'CHAT-061' },
  'messages-an-object': { when: where('messages', isObject), requirement: 'CHAT-061' },
  'messages-null': { when: where('messages', isNull), requirement: 'CHAT-061' },
  'message-a-string': { when: message(isString), requirement: 'CHAT-061' },
  'role-missing': { when: withoutKey('role'), requirement: 'CHAT-062' },
  'role-a-number': { when: inMessage('role', isNumber), requirement: 'CHAT-062' },
  'role-tool': { when: inMessage('role', is('tool')), requirement: 'CHAT-063' },
  'role-unknown': { when: inMessage('role', is('customer')), requirement: 'CHAT-063' },
  'content-missing': { when: withoutKey('content'), requirement: 'CHAT-064' },
  'role-unknown-in-the-last': {
    when: ofMessages(2, 1, (last) => isObject(last) && last['role'] === 'customer'),
    requirement: 'CHAT-063',
  },
  'content-missing-in-the-first': {
    when: ofMessages(2, 0, (first) => isObject(first) && !Object.hasOwn(first, 'content')),
    requirement: 'CHAT-064',
  },
  'content-a-number': { when: inMessage('content', isNumber), requirement: 'CHAT-065' },
  'content-an-object': { when: inMessage('content', isObject), requirement: 'CHAT-065' },
  'content-null': { when: inMessage('content', isNull), requirement: 'CHAT-065' },
  'body-not-json': { when: notJson, requirement: 'CHAT-066' },
  'body-empty': { when: empty, requirement: 'CHAT-066' },
  'body-an-array': { when: anArray, requirement: 'CHAT-066' },
};

const idWith = (character: string): When =>
  where('user_id', (id) => typeof id === 'string' && id.includes(character));

/** Every malformed create request that the judge sends. */
export const malformedUsers: Readonly<Record<string, Malformed>> = {
  'user-id-missing': { when: lacks('user_id'), requirement: 'USERS-060' },
  'user-id-a-number': { when: where('user_id', isNumber), requirement: 'USERS-061' },
  'user-id-null': { when: where('user_id', isNull), requirement: 'USERS-061' },
  hyphen: { when: idWith('-'), requirement: 'USERS-062' },
  space: { when: idWith(' '), requirement: 'USERS-062' },
  dot: { when: idWith('.'), requirement: 'USERS-062' },
  slash: { when: idWith('/'), requirement: 'USERS-062' },
  'line-break': { when: idWith('\n'), requirement: 'USERS-062' },
  '65-characters': {
    when: where('user_id', (id) => typeof id === 'string' && id.length === 65),
    requirement: 'USERS-063',
  },
  'empty-id': { when: where('user_id', is('')), requirement: 'USERS-064' },
  'body-not-json': { when: notJson, requirement: 'USERS-065' },
  'body-empty': { when: empty, requirement: 'USERS-065' },
  'body-an-array': { when: anArray, requirement: 'USERS-065' },
};
