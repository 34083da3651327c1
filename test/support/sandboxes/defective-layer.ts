/** A server in front of a sandbox that changes what its clients get. */
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import type { Test } from 'tap';
import { systemClock } from '../../../src/platform/clock.ts';
import { isObject, parseJson } from '../../../src/platform/json.ts';
import { startLocally } from '../network/local-server.ts';

export interface Message {
  method: string;
  path: string;
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** Forwards a request, perhaps to another path. */
type Forward = (path?: string) => Promise<Message>;

/** Changes what a client gets. Each run creates its own, because it may keep state. */
export type Defect = () => (
  request: { method: string; path: string; body: string },
  forward: Forward,
) => Promise<Message>;

export const listen = (t: Test, listener: RequestListener): Promise<string> =>
  startLocally(t, createServer(listener));

/** Puts a defective layer in front of a sandbox. */
export async function withDefect(t: Test, upstream: string, defect: Defect): Promise<string> {
  const respond = defect();
  return listen(t, (request, response) => {
    void (async () => {
      const body = await readText(request);
      const { method = '', url = '' } = request;
      const forward: Forward = async (path = url) => {
        const answer = await fetch(`${upstream}${path}`, {
          method,
          headers: forwardedHeaders(request.headers),
          ...(method === 'POST' && { body }),
        });
        const type = answer.headers.get('content-type');
        return {
          ...{ method, path, status: answer.status, body: await answer.text() },
          headers: type === null ? {} : { 'content-type': type },
        };
      };
      const { status, headers, body: text } = await respond({ method, path: url, body }, forward);
      response.writeHead(status, headers).end(text);
    })();
  });
}

const forwardedHeaders = (headers: IncomingHttpHeaders): Record<string, string> => ({
  ...(headers['content-type'] !== undefined && { 'content-type': headers['content-type'] }),
});

export const CHAT = '/v1/chat/completions';
export const isAccepted = ({ status }: Message): boolean => status < 300;
export const isChat = ({ path }: { path: string }): boolean => path === CHAT;
export const isUsers = ({ path }: { path: string }): boolean => path.startsWith('/users');

/** Returns the body of an error in the shape of the interface. */
export const errorBody = (message: string, type: string, code: string | null): string =>
  JSON.stringify({ error: { message, type, code } });

/** Returns the user id in the body of a request; empty without one. */
export function idOf({ body }: { body: string }): string {
  const value = parseJson(body);
  return isObject(value) && typeof value['user_id'] === 'string' ? value['user_id'] : '';
}

/** Changes every response, or those that `when` selects. */
export const change =
  (edit: (message: Message) => Partial<Message>, when: (message: Message) => boolean): Defect =>
  () =>
  async (_request, forward) => {
    const message = await forward();
    return when(message) ? { ...message, ...edit(message) } : message;
  };

/** Edits the JSON body of responses. */
export const changeBody = (
  edit: (body: unknown) => unknown,
  when: (message: Message) => boolean = isAccepted,
): Defect => change(({ body }) => ({ body: JSON.stringify(edit(JSON.parse(body))) }), when);

/** Edits the text of responses. */
export const changeText = (
  edit: (body: string) => string,
  when: (message: Message) => boolean = isAccepted,
): Defect => change(({ body }) => ({ body: edit(body) }), when);

const HTML_HEADERS = { 'content-type': 'text/html', server: 'nginx', 'retry-after': '0' };

export const html = (status: number, title: string): Message => ({
  ...{ method: '', path: '', status, headers: HTML_HEADERS },
  body: `<html><head><title>${title}</title></head><body><h1>${title}</h1></body></html>`,
});

/** Responds with this page instead, for every nth request that `isLimited` selects. */
export const limit =
  (page: Message, nth: number, isLimited: (request: { path: string }) => boolean): Defect =>
  () => {
    let count = 0;
    return (request, forward) =>
      isLimited(request) && ++count % nth === 0 ? Promise.resolve(page) : forward();
  };

/** Responds with this message while another request to the same path is in flight. */
export const failInOverlap = (message: Message): Defect => {
  return () => {
    let inFlight = 0;
    return async (request, forward) => {
      if (request.path !== CHAT) return forward();
      if (++inFlight > 1) {
        inFlight--;
        return message;
      }
      const response = await forward();
      // Long enough for concurrent requests to arrive.
      await systemClock.sleep(20);
      inFlight--;
      return response;
    };
  };
};

/** Caches by method and path: later requests get the first response, even with another body. */
export const cachePosts = (headers: Record<string, string>): Defect => {
  return () => {
    const cache = new Map<string, Promise<Message>>();
    return async ({ method, path }, forward) => {
      if (method !== 'POST') return forward();
      const key = `${method} ${path}`;
      const isHit = cache.has(key);
      const stored = cache.get(key) ?? forward();
      cache.set(key, stored);
      const message = await stored;
      return { ...message, headers: { ...message.headers, ...(isHit && headers) } };
    };
  };
};

export const redirect =
  (when: (request: { path: string }) => boolean, to: (path: string) => string): Defect =>
  () =>
  (request, forward) =>
    when(request)
      ? Promise.resolve({
          ...{ ...request, status: 307, headers: { location: to(request.path) }, body: '' },
        })
      : forward();
