/** The conversation whose traces the demo sends to the service. */
import type { ChatMessage, ChatResponse } from '../../src/contract/index.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { chat, QUESTION } from './chat.ts';
import { createSpan, encodeTraces, type Span } from './spans.ts';

/** The id of the conversation. */
export const CONVERSATION = 'demo-conversation';
/** What the user says in it. */
export const conversationLines = [QUESTION, 'And what are your opening hours?'];

/** Sends each turn as instrumentation does: the whole history as input, the reply as output. */
export async function sendTraces(
  url: string,
  headers: Record<string, string>,
  agentUrl: string,
): Promise<void> {
  const spans: Span[] = [];
  const history: ChatMessage[] = [];
  for (const line of conversationLines) {
    history.push({ role: 'user', content: line });
    const startMs = systemClock.nowMs();
    const [choice] = (await chat(agentUrl, CONVERSATION, history)).choices;
    spans.push(...createTurnSpans(history, choice.message, startMs, systemClock.nowMs()));
    history.push({ role: 'assistant', content: choice.message.content });
  }
  const response = await fetch(url, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(encodeTraces('demo-agent', spans)),
  });
  if (!response.ok) throw new Error(`the service refused the traces (${response.status})`);
}

/** Creates the span of a turn, and one below it for each tool call. */
function createTurnSpans(
  history: readonly ChatMessage[],
  reply: ChatResponse['choices'][0]['message'],
  startMs: number,
  endMs: number,
): Span[] {
  const turn = createSpan('chat', startMs, endMs, {
    'gen_ai.conversation.id': CONVERSATION,
    'gen_ai.request.model': 'reference',
    'gen_ai.input.messages': JSON.stringify(history.map(toParts)),
    'gen_ai.output.messages': JSON.stringify([{ ...toParts(reply), finish_reason: 'stop' }]),
  });
  const tools = (reply.tool_calls ?? []).map(({ function: call }) =>
    createSpan(
      'execute_tool',
      startMs,
      endMs,
      {
        'gen_ai.conversation.id': CONVERSATION,
        'gen_ai.tool.name': call.name,
        'gen_ai.tool.call.arguments': call.arguments,
        'gen_ai.tool.call.result': JSON.stringify(call.result),
      },
      turn,
    ),
  );
  return [turn, ...tools];
}

const toParts = ({ role, content }: { role: string; content: string }): object => ({
  role,
  parts: [{ type: 'text', content }],
});
