import { Agent, fetch } from 'undici';
import type { Test } from 'tap';
import { startAgent, type AgentOptions, type RunningAgent } from '../../reference-agent/index.ts';
import { findViolations, type ChatRequest, type MessageName } from '../../src/contract/index.ts';

export interface Answer {
  status: number;
  headers: Headers | Awaited<ReturnType<typeof fetch>>['headers'];
  text: string;
  /** The body as JSON; undefined if it is not JSON. */
  json: unknown;
}

/** The parts of a request; `text` replaces the JSON `body`. */
export interface Sending {
  body?: unknown;
  text?: string;
  headers?: Record<string, string>;
}

export type Send = (route: string, sending?: Sending) => Promise<Answer>;

/** Starts an agent on a free port, and stops it after the test; `send` sends HTTP requests to it. */
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
      json: parsed(answer),
    };
  };
  return { agent, send };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const CHAT_ROUTE = 'POST /v1/chat/completions';

/** Creates a valid chat request with alternating roles, whose last text is the user's. */
export function chatOf(...texts: string[]): ChatRequest {
  const last = texts.length - 1;
  return {
    messages: texts.map((content, index) => ({
      role: (last - index) % 2 === 0 ? 'user' : 'assistant',
      content,
    })),
  };
}

/** Asserts status and shape: the body conforms to the schema of the message. */
export function isAnswer(t: Test, answer: Answer, status: number, message: MessageName): void {
  t.equal(answer.status, status, `status ${status}`);
  t.same(findViolations(message, answer.json), [], `conforms to ${message}`);
}

/** Asserts a refusal in the sandbox error shape. */
export function isRefusal(t: Test, answer: Answer, status: number, code: string): void {
  isAnswer(t, answer, status, 'SandboxError');
  t.match(answer.json, { error: { code } });
}

/** Waits until a fault was injected once, which means that its request has arrived. */
export async function untilInjected(send: Send): Promise<void> {
  while (!(await send('GET /__admin/faults')).text.includes('"injected":1'));
}
