/**
 * The endpoints of the sandbox, with the HTTP server of Node (spec 4.5 to 4.8).
 *
 * @import { IncomingMessage, RequestListener } from 'node:http'
 * @import { Health } from 'sandbox-kit'
 */
import { complete } from './chat.js';
import { badRequest, checkKey, notFound, tooLarge, toSandboxError } from './errors.js';
import { readHealth } from './health.js';
import { readChatRequest, readUserRequest } from './requests.js';
import { createUsers } from './users.js';

/** The interface sets no limit; a conversation with long messages can exceed 100 kB. */
const BODY_BYTES_MAX = 8 * 1024 * 1024;

/**
 * @typedef {object} Outcome
 * @property {number} [status] 200 by default.
 * @property {object} body
 */

/**
 * @param {string | undefined} apiKey
 * @param {Partial<Health>} healthDetails Additional fields of the health response.
 * @returns {RequestListener}
 */
export function createApp(apiKey, healthDetails = {}) {
  const users = createUsers();

  /**
   * @param {IncomingMessage} request
   * @returns {Promise<Outcome>}
   */
  async function handle(request) {
    const { method, headers, url = '/' } = request;
    const [path = '/'] = url.split('?');
    if (method === 'GET' && path === '/health') {
      // Needs no key: the service asks before it knows whether its key works (spec 4.6).
      const health = await readHealth();
      const status = health.status === 'unhealthy' ? 503 : 200;
      return { status, body: { ...health, ...healthDetails } };
    }
    checkKey(headers.authorization, apiKey);
    if (method === 'POST' && path === '/v1/chat/completions') {
      const chat = readChatRequest(await readJson(request));
      return { body: await complete(chat, users.profileOf(chat.user_id)) };
    }
    if (method === 'POST' && path === '/users') {
      return { status: 201, body: users.create(readUserRequest(await readJson(request))) };
    }
    const userId = /^\/users\/(\w+)$/.exec(path)?.[1];
    if (method === 'DELETE' && userId !== undefined) {
      // The body confirms the deletion, so the status is not 204 (spec 2.9).
      return { body: users.delete(userId) };
    }
    throw notFound();
  }

  return async (request, response) => {
    const { status = 200, body } = await handle(request).catch(toSandboxError);
    response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' });
    response.end(JSON.stringify(body));
  };
}

/** @param {IncomingMessage} request */
async function readJson(request) {
  const chunks = [];
  let bytes = 0;
  for await (const chunk of request) {
    // Reads even a large body to its end: a client may ignore responses until it has sent all.
    bytes += chunk.length;
    if (bytes <= BODY_BYTES_MAX) chunks.push(chunk);
  }
  if (bytes > BODY_BYTES_MAX) throw tooLarge();
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    throw badRequest('The request body is not valid JSON.');
  }
}
