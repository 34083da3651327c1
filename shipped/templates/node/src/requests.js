/**
 * Checks the requests of the service. What the interface forbids gets a 400 (spec 7); everything
 * else is accepted, because the service may add keys.
 *
 * @import { ChatRequest, UserCreateRequest } from 'sandbox-kit'
 */
import { badRequest } from './errors.js';

const ROLES = ['system', 'user', 'assistant'];
const USER_ID = /^[A-Za-z0-9_]{1,64}$/;

/**
 * @param {any} body
 * @returns {ChatRequest}
 */
export function readChatRequest(body) {
  expect(isObject(body), 'The body must be a JSON object.');
  expect(Array.isArray(body.messages), 'messages must be an array.');
  for (const [index, message] of body.messages.entries()) {
    const place = `messages[${index}]`;
    expect(isObject(message), `${place} must be an object.`);
    expect(ROLES.includes(message.role), `${place}.role must be one of ${ROLES.join(', ')}.`);
    expect(typeof message.content === 'string', `${place}.content must be a string.`);
  }
  // A request with only `messages` is valid (spec 4.5).
  for (const name of ['user_id', 'session_id']) {
    expect(isOptional(body[name], 'string'), `${name} must be a string.`);
  }
  expect(body.metadata === undefined || isObject(body.metadata), 'metadata must be an object.');
  return body;
}

/**
 * @param {any} body
 * @returns {UserCreateRequest}
 */
export function readUserRequest(body) {
  expect(isObject(body), 'The body must be a JSON object.');
  const { user_id, metadata, profile } = body;
  expect(
    typeof user_id === 'string' && USER_ID.test(user_id),
    'user_id must be 1 to 64 letters, digits, and underscores.',
  );
  expect(metadata === undefined || isObject(metadata), 'metadata must be an object.');
  expect(profile === undefined || isObject(profile), 'profile must be an object.');
  return body;
}

/** @param {unknown} value */
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * @param {unknown} value
 * @param {'string'} type
 */
const isOptional = (value, type) => value === undefined || typeof value === type;

/**
 * @param {boolean} condition
 * @param {string} message
 */
function expect(condition, message) {
  if (!condition) throw badRequest(message);
}
