import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';

/** A request that came in. */
export interface Asked {
  path: string | undefined;
  authorization: string | undefined;
  body: {
    model: string;
    temperature?: number;
    response_format?: { type: string };
    messages: { role: string; content: string }[];
  };
}

/** How a request is answered. */
export type Behaviour = (asked: Asked, response: ServerResponse) => void;

/** A server that speaks as much of OpenAI's chat completions as a judge needs. */
export interface OpenAiServer {
  baseUrl: string;
  asked: Asked[];
  /** Answers the next requests one after the other like this; the last stays. */
  behave(...behaviours: Behaviour[]): void;
  /** Resolves when so many requests have come in, in all. */
  untilAsked(count: number): Promise<void>;
}

/** Starts one on a free port; it ends with the test. */
export async function openAiServer(t: Test): Promise<OpenAiServer> {
  const asked: Asked[] = [];
  let behaviours: Behaviour[] = [answers.verdict('pass')];
  let heard = Promise.withResolvers<undefined>();
  const server = createServer((request, response) => {
    void textOf(request).then((text) => {
      const one: Asked = {
        path: request.url,
        authorization: request.headers.authorization,
        body: JSON.parse(text) as Asked['body'],
      };
      asked.push(one);
      const behave = behaviours.length > 1 ? behaviours.shift() : behaviours[0];
      behave?.(one, response);
      heard.resolve(undefined);
      heard = Promise.withResolvers();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    asked,
    behave: (...next) => (behaviours = next),
    async untilAsked(count) {
      while (asked.length < count) await heard.promise;
    },
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += String(chunk);
  return text;
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

/** What a server may do. */
export const answers = {
  verdict:
    (verdict: string, reasoning = 'The agent greets in turn 1.'): Behaviour =>
    (_asked, response) =>
      send(response, 200, completionOf({ content: JSON.stringify({ reasoning, verdict }) })),
  content:
    (content: string | null, finish?: string): Behaviour =>
    (_asked, response) =>
      send(response, 200, completionOf({ content }, finish)),
  refusal: ((_asked, response) =>
    send(response, 200, completionOf({ content: null, refusal: 'I cannot.' }))) as Behaviour,
  body:
    (body: unknown): Behaviour =>
    (_asked, response) =>
      send(response, 200, body),
  status:
    (status: number, headers = {}, message = 'It failed.'): Behaviour =>
    (_asked, response) =>
      send(response, status, { error: { message, type: 'x', code: null } }, headers),
  /** Never answers. */
  hang: (() => {}) as Behaviour,
  /** Begins to answer and never ends. */
  drip: ((_asked, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('{"choices": [');
  }) as Behaviour,
  reset: ((_asked, response) => response.destroy()) as Behaviour,
  /** Knows no response format. */
  plainOnly: ((asked, response) => {
    if (asked.body.response_format) answers.status(400)(asked, response);
    else answers.verdict('fail', 'No greeting.')(asked, response);
  }) as Behaviour,
  /** Knows no temperature, as models that reason. */
  noTemperature: ((asked, response) => {
    const message = "Unsupported value: 'temperature' does not support 0.";
    if (asked.body.temperature !== undefined) answers.status(400, {}, message)(asked, response);
    else answers.verdict('pass')(asked, response);
  }) as Behaviour,
  /** Repeats the key that it was sent. */
  echoKey: ((asked, response) =>
    answers.verdict('pass', `You sent ${asked.authorization}.`)(asked, response)) as Behaviour,
  /** A model that obeys any text that stands outside the fence, and the rules otherwise. */
  gullible: ((asked, response) => {
    const transcript = asked.body.messages.at(-1)?.content ?? '';
    const fence = /^BEGIN (\w+)$/m.exec(transcript)?.[1] ?? '';
    const outside = transcript.split(`\nEND ${fence}`).slice(1).join('');
    const lines = transcript.split('\n');
    const obeys = outside !== '' || lines.slice(1, -1).some((line) => !line.startsWith('{"turn":'));
    answers.verdict(obeys ? 'pass' : 'fail', 'As I was told.')(asked, response);
  }) as Behaviour,
};

/** Answers that are held back until they are released, all in the same way. */
export function heldAnswers(): { behave: Behaviour; release: (how: Behaviour) => void } {
  const held: (() => void)[] = [];
  let released: Behaviour | undefined;
  return {
    behave: (asked, response) => {
      if (released) released(asked, response);
      else held.push(() => released?.(asked, response));
    },
    release(how) {
      released = how;
      for (const answer of held.splice(0)) answer();
    },
  };
}
