import { isMessage, type ChatMessage, type ChatResponse } from '../../src/contract/index.ts';
import type { Terminal } from '../output/terminal.ts';
import { writeRow } from './rows.ts';

/** What the user asks first. */
export const QUESTION = 'Where is my order A-1001?';

/** Sends one chat request as a simulated user does. */
export async function showChat(url: string, out: Terminal): Promise<void> {
  const reply = await chat(url, 'demo', [{ role: 'user', content: QUESTION }]);
  const [{ message }] = reply.choices;
  const [tool] = message.tool_calls ?? [];
  writeRow(out, 'user', QUESTION);
  if (tool) writeRow(out, 'tool', out.style('dim', tool.function.name));
  writeRow(out, 'agent', message.content);
}

/** Sends a conversation to the agent, and returns its reply. */
export async function chat(
  agentUrl: string,
  sessionId: string,
  messages: ChatMessage[],
): Promise<ChatResponse> {
  const response = await fetch(`${agentUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ messages, session_id: sessionId }),
  });
  const reply: unknown = await response.json();
  if (!isMessage('ChatResponse', reply)) throw new Error('the agent sent no chat response');
  return reply;
}
