import { Agent } from 'undici';
import type { Test } from 'tap';
import {
  startAgent,
  type AgentOptions,
  type RunningAgent,
} from '../../../reference-agent/index.ts';
import type { ChatRequest } from '../../../src/contract/index.ts';
import {
  assertResponse,
  createSend,
  JSON_CONTENT,
  type HttpResponse,
  type Send,
} from '../network/send.ts';

/**
 * Starts the reference agent on a free port, and stops it after the test. `send` sends requests to it
 * over HTTP.
 */
export async function withReferenceAgent(
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
  const sendPlain = createSend(agent.url, dispatcher);
  // Raw text has the content type of JSON too, so that the agent parses it.
  const send: Send = (route, options = {}) =>
    sendPlain(route, {
      ...options,
      headers: { ...(options.raw !== undefined && JSON_CONTENT), ...options.headers },
    });
  return { agent, send };
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

/** Asserts an error response in the sandbox error shape (spec 7). */
export function assertError(t: Test, response: HttpResponse, status: number, code: string): void {
  assertResponse(t, response, status, 'SandboxError');
  t.match(response.json, { error: { code } });
}

/** Waits until a fault was injected once. */
export async function waitForInjection(send: Send): Promise<void> {
  while (!(await send('GET /__admin/faults')).text.includes('"injected":1'));
}
