import { Agent, fetch } from 'undici';
import type { Test } from 'tap';
import { startAgent, type AgentOptions, type RunningAgent } from '../../reference-agent/index.ts';
import { findViolations, type ChatRequest, type MessageName } from '../../src/contract/index.ts';

/** A response of the agent. */
export interface Answer {
  status: number;
  headers: Headers | Awaited<ReturnType<typeof fetch>>['headers'];
  text: string;
  /** The parsed body; undefined if it is not JSON. */
  json: unknown;
}

/** A request: `body` is sent as JSON, `text` unchanged. */
export interface SendOptions {
  body?: unknown;
  text?: string;
  headers?: Record<string, string>;
}

export type Send = (route: string, sending?: SendOptions) => Promise<Answer>;

/** Starts an agent on a free port, and stops it after the test. `send` sends requests to it over HTTP. */
export async function withAgent(
  t: Test,
  options: Partial<AgentOptions> = {},
  caPem?: string,
): Promise<{ agent: RunningAgent; send: Send }> {
  const agent = await startAgent(options);
  const ca = caPem ?? agent.caPem;
  const dispatcher = new Agent(ca === null ? {} : { connect: { ca } });
  t.teardown(async () => {
    await dispatcher.close();
    await agent.stop();
  });
  const send: Send = async (route, { body, text, headers = {} } = {}) => {
    const [method = '', path = ''] = route.split(' ');
    const payload = text ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await fetch(agent.url + path, {
      method,
      dispatcher,
      headers: { ...(payload !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(payload !== undefined && { body: payload }),
    });
    const answer = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text: answer,
      json: parseJson(answer),
    };
  };
  return { agent, send };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const CHAT_ROUTE = 'POST /v1/chat/completions';

/** Returns a valid chat request. The last text is the user's; the roles before it alternate. */
export function makeChatRequest(...texts: string[]): ChatRequest {
  const last = texts.length - 1;
  return {
    messages: texts.map((content, index) => ({
      role: (last - index) % 2 === 0 ? 'user' : 'assistant',
      content,
    })),
  };
}

/** Asserts the status, and that the body conforms to the schema of the message. */
export function assertResponse(
  t: Test,
  answer: Answer,
  status: number,
  message: MessageName,
): void {
  t.equal(answer.status, status, `status ${status}`);
  t.same(findViolations(message, answer.json), [], `conforms to ${message}`);
}

/** Asserts an error response in the sandbox error shape (spec 7). */
export function assertError(t: Test, answer: Answer, status: number, code: string): void {
  assertResponse(t, answer, status, 'SandboxError');
  t.match(answer.json, { error: { code } });
}

/** Waits until a fault was injected once. */
export async function waitForInjection(send: Send): Promise<void> {
  while (!(await send('GET /__admin/faults')).text.includes('"injected":1'));
}
