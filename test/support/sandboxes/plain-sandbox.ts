import { createServer, type IncomingMessage, type Server } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import type { Test } from 'tap';
import { startLocally } from '../network/local-server.ts';

/** A response of the plain sandbox. */
type Plain = [status: number, body: unknown];

const refusal = (type: string, code: string): Plain => [
  400,
  { error: { message: 'The request is invalid.', type, code } },
];
const badRequest = refusal('invalid_request_error', 'bad_request');

/**
 * Starts a sandbox with minimal legal responses, and stops it after the test. It shares no code with
 * the reference agent, so that tests with both do not only prove how the reference agent behaves.
 */
export async function withPlainSandbox(t: Test): Promise<string> {
  const server = createPlainServer();
  return startLocally(t, server);
}

/** Creates the server. `onRequest` runs before each response and can delay or prevent it. */
export function createPlainServer(
  onRequest: (request: IncomingMessage, text: string) => Promise<void> = () => Promise.resolve(),
): Server {
  const users = new Set<string>();
  return createServer((request, response) => {
    void readText(request).then(async (text) => {
      await onRequest(request, text);
      const [status, body] = respondTo(users, request.method ?? '', request.url ?? '', text);
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    });
  });
}

function respondTo(users: Set<string>, method: string, path: string, text: string): Plain {
  if (method === 'GET' && path === '/health') {
    return [200, { status: 'degraded', timestamp: '2026-W47-5' }];
  }
  if (method === 'DELETE') return remove(users, decodeURIComponent(path.slice('/users/'.length)));
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return badRequest;
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return badRequest;
  return path === '/users' ? create(users, body) : chat(body);
}

function create(users: Set<string>, body: { user_id?: unknown }): Plain {
  const { user_id: id } = body;
  if (typeof id !== 'string' || !/^[a-z0-9_]{1,64}$/i.test(id)) return badRequest;
  if (users.has(id)) return refusal('duplicate_user_error', 'user_exists');
  users.add(id);
  return [200, { user_id: id, created_at: '20261120T093000Z', status: 'pending' }];
}

function remove(users: Set<string>, id: string): Plain {
  if (!users.delete(id)) return [404, 'not found'];
  return [202, { user_id: id, deleted_at: '2026-11-20', status: 'deleted' }];
}

const roles = ['system', 'user', 'assistant'];

function chat({ messages }: { messages?: unknown }): Plain {
  const isValid = (message: { role?: unknown; content?: unknown } | null): boolean =>
    typeof message === 'object' &&
    typeof message?.content === 'string' &&
    roles.some((role) => role === message.role);
  if (!Array.isArray(messages) || !messages.every(isValid)) return badRequest;
  return [201, { choices: [{ message: { role: 'assistant', content: '' } }] }];
}
