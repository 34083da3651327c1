import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Test } from 'tap';
import { systemClock } from '../../../src/platform/clock.ts';
import { respondWith, withSandboxDouble, type SandboxDouble } from '../sandboxes/sandbox-double.ts';

/** A chat request that the target received. */
export interface ReceivedChat {
  /** The position of the request, from 0. */
  nth: number;
  session: string;
  request: IncomingMessage;
  response: ServerResponse;
  /** Sends a valid response, by default with the session id of the request. */
  answer: (session?: string, headers?: Record<string, string>) => void;
}

/** A sandbox whose chat responses a test controls. */
export interface LoadTargetServer extends Pick<SandboxDouble, 'url' | 'server'> {
  /** The number of chat requests received. */
  readonly chats: number;
}

/** Starts a conforming sandbox whose chat requests go to `handleChat`, and stops it after the test. */
export async function withTarget(
  t: Test,
  handleChat: (chat: ReceivedChat) => void = ({ answer }) => answer(),
): Promise<LoadTargetServer> {
  let chats = 0;
  const { url, server } = await withSandboxDouble(t, {
    chat(response, received) {
      const { session_id: session = '' } = received.body as { session_id?: string };
      handleChat({
        nth: chats++,
        session,
        request: response.req,
        response,
        answer(echoed = session, headers = {}) {
          const choices = [{ message: { role: 'assistant', content: 'Hello.' } }];
          respondWith(200, { session_id: echoed, choices }, headers)(response, received);
        },
      });
    },
  });
  // Longer than the load generator keeps idle connections, so that none closes on reuse.
  server.keepAliveTimeout = 60_000;
  return {
    url,
    server,
    get chats() {
      return chats;
    },
  };
}

/** Closes the connection in the middle of a response. */
export function cutOff({ request, response }: ReceivedChat): void {
  response.writeHead(200, { 'content-length': 500 });
  response.write('{"choices"', () => request.socket.destroy());
}

/** Starts a target that answers some requests, and then stops listening. */
export async function withStoppingTarget(t: Test, answered: number): Promise<LoadTargetServer> {
  const target = await withTarget(t, ({ nth, answer }) => {
    answer();
    if (nth !== answered) return;
    target.server.close();
    target.server.closeAllConnections();
  });
  return target;
}

/** Calls a function after some milliseconds of real time. */
export const callAfter = (ms: number, then: () => void): void =>
  void systemClock.sleep(ms).then(then);

/** Limits the capacity: a number of workers, each busy for `serviceMs` per request, and one queue. */
export function workers(count: number, serviceMs: number): (chat: ReceivedChat) => void {
  const waiting: (() => void)[] = [];
  let free = count;
  const startNext = (): void => {
    const next = free > 0 ? waiting.shift() : undefined;
    if (!next) return;
    free--;
    callAfter(serviceMs, () => {
      free++;
      next();
      startNext();
    });
  };
  return ({ answer }) => {
    waiting.push(answer);
    startNext();
  };
}
