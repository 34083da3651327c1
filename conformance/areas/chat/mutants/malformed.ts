import {
  is,
  isEmptyBody,
  isJsonArray,
  isNotJson,
  isNull,
  isNumber,
  isString,
  lacks,
  where,
  type MalformedRequest,
} from '../../../engine/mutants/requests.ts';
import type { When } from '../../../engine/mutants/combinators.ts';
import { isObject } from '../../../../src/platform/json.ts';
import type { MalformedChatStep } from '../steps.ts';

/** The only message matches. */
const message = (matches: (only: unknown) => boolean): When => ofMessages(1, 0, matches);

/** There are `count` messages, and the one at `index` matches. */
function ofMessages(count: number, index: number, matches: (message: unknown) => boolean): When {
  return where(
    'messages',
    (messages) => Array.isArray(messages) && messages.length === count && matches(messages[index]),
  );
}

/** The value of a key of the only message matches. */
const inMessage = (key: string, matches: (value: unknown) => boolean): When =>
  message((first) => isObject(first) && Object.hasOwn(first, key) && matches(first[key]));

/** The only message has no such key. */
const withoutKey = (key: string): When =>
  message((first) => isObject(first) && !Object.hasOwn(first, key));

/** How to recognize the malformed chat requests of the probes, by step. */
export const malformedChats: Readonly<Record<MalformedChatStep, MalformedRequest>> = {
  'messages missing': { name: 'messages-missing', when: lacks('messages') },
  'messages a string': { name: 'messages-a-string', when: where('messages', isString) },
  'messages an object': { name: 'messages-an-object', when: where('messages', isObject) },
  'messages null': { name: 'messages-null', when: where('messages', isNull) },
  'message a string': { name: 'message-a-string', when: message(isString) },
  'role missing': { name: 'role-missing', when: withoutKey('role') },
  'role a number': { name: 'role-a-number', when: inMessage('role', isNumber) },
  'role tool': { name: 'role-tool', when: inMessage('role', is('tool')) },
  'role unknown': { name: 'role-unknown', when: inMessage('role', is('customer')) },
  'content missing': { name: 'content-missing', when: withoutKey('content') },
  'role unknown in the last of two': {
    name: 'role-unknown-in-the-last',
    when: ofMessages(2, 1, (last) => isObject(last) && last['role'] === 'customer'),
  },
  'content missing in the first of two': {
    name: 'content-missing-in-the-first',
    when: ofMessages(2, 0, (first) => isObject(first) && !Object.hasOwn(first, 'content')),
  },
  'content a number': { name: 'content-a-number', when: inMessage('content', isNumber) },
  'content an object': { name: 'content-an-object', when: inMessage('content', isObject) },
  'content null': { name: 'content-null', when: inMessage('content', isNull) },
  'body not JSON': { name: 'body-not-json', when: isNotJson },
  'body empty': { name: 'body-empty', when: isEmptyBody },
  'body an array': { name: 'body-an-array', when: isJsonArray },
};
