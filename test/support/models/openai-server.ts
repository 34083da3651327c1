import type { ServerResponse } from 'node:http';
import type { Test } from 'tap';
import { startScriptedServer, type Responder } from './scripted-server.ts';

/** A request that the server received. */
interface ModelRequest {
  path: string | undefined;
  authorization: string | undefined;
  body: {
    model: string;
    temperature?: number;
    response_format?: { type: string };
    messages: { role: string; content: string }[];
  };
}

/** Responds to one request. */
export type Behavior = (request: ModelRequest, response: ServerResponse) => void;

/** A server that implements as much of OpenAI's chat completions as an LLM judge needs. */
export interface OpenAiServer {
  baseUrl: string;
  requests: ModelRequest[];
  /** Sets the behaviors of the next requests, in order. The last one also applies to all later requests. */
  behave(...behaviors: Behavior[]): void;
  /** Resolves when this many requests have arrived in total. */
  waitForRequests(count: number): Promise<void>;
}

/** Starts the server on a free port and stops it when the test ends. */
export async function startOpenAiServer(t: Test): Promise<OpenAiServer> {
  const server = await startScriptedServer(
    t,
    ({ url: path, headers: { authorization } }, body): ModelRequest => ({
      path,
      authorization,
      body: JSON.parse(body.toString()) as ModelRequest['body'],
    }),
  );
  const behave = (...next: Behavior[]): void =>
    server.respondWith(
      ...next.map(
        (each): Responder<ModelRequest> =>
          (to, from) =>
            each(from, to),
      ),
    );
  behave(behaviors.verdict('pass'));
  return { ...server, behave };
}

function send(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

const completionOf = (message: object, finish = 'stop'): object => ({
  id: 'completion-1',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finish }],
});

/** The behaviors of a server, good and bad. */
export const behaviors = {
  verdict:
    (verdict: string, reasoning = 'The agent greets in turn 1.'): Behavior =>
    (_request, response) =>
      send(response, 200, completionOf({ content: JSON.stringify({ reasoning, verdict }) })),
  content:
    (content: string | null, finish?: string): Behavior =>
    (_request, response) =>
      send(response, 200, completionOf({ content }, finish)),
  refusal: ((_request, response) =>
    send(response, 200, completionOf({ content: null, refusal: 'I cannot.' }))) as Behavior,
  body:
    (body: unknown): Behavior =>
    (_request, response) =>
      send(response, 200, body),
  status:
    (status: number, headers = {}, message = 'It failed.'): Behavior =>
    (_request, response) =>
      send(response, status, { error: { message, type: 'x', code: null } }, headers),
  /** Never responds. */
  hang: (() => {}) as Behavior,
  /** Starts a response and never completes it. */
  drip: ((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('{"choices": [');
  }) as Behavior,
  reset: ((_request, response) => response.destroy()) as Behavior,
  /** Rejects `response_format`. */
  plainOnly: ((request, response) => {
    if (request.body.response_format) behaviors.status(400)(request, response);
    else behaviors.verdict('fail', 'No greeting.')(request, response);
  }) as Behavior,
  /** Rejects `temperature`, as reasoning models do. */
  noTemperature: ((request, response) => {
    const message = "Unsupported value: 'temperature' does not support 0.";
    if (request.body.temperature !== undefined)
      behaviors.status(400, {}, message)(request, response);
    else behaviors.verdict('pass')(request, response);
  }) as Behavior,
  /** Repeats the key of the request. */
  echoKey: ((request, response) =>
    behaviors.verdict('pass', `You sent ${request.authorization}.`)(request, response)) as Behavior,
  /** A model that obeys any instruction outside the fence and otherwise follows the rules. */
  gullible: ((request, response) => {
    const transcript = request.body.messages.at(-1)?.content ?? '';
    const fence = /^BEGIN (\w+)$/m.exec(transcript)?.[1] ?? '';
    const outside = transcript.split(`\nEND ${fence}`).slice(1).join('');
    const lines = transcript.split('\n');
    const obeys = outside !== '' || lines.slice(1, -1).some((line) => !line.startsWith('{"turn":'));
    behaviors.verdict(obeys ? 'pass' : 'fail', 'As instructed.')(request, response);
  }) as Behavior,
};

/** Creates a behavior that holds all responses back until they are released. */
export function createPendingBehavior(): {
  behave: Behavior;
  release: (behavior: Behavior) => void;
} {
  const pending: (() => void)[] = [];
  let released: Behavior | undefined;
  return {
    behave: (request, response) => {
      if (released) released(request, response);
      else pending.push(() => released?.(request, response));
    },
    release(behavior) {
      released = behavior;
      for (const respond of pending.splice(0)) respond();
    },
  };
}
