/**
 * Turns a reply of the agent into a chat response (spec 2.8).
 *
 * @import { ChatRequest, ChatResponse, UserProfile } from 'sandbox-kit'
 */
import { randomUUID } from 'node:crypto';
import { replyTo } from './agent.js';

/**
 * @param {ChatRequest} request
 * @param {UserProfile | undefined} profile The user that the request names, if it exists.
 * @returns {Promise<ChatResponse>}
 */
export async function complete({ messages, session_id, metadata }, profile) {
  const startedMs = performance.now();
  const { content, toolUses, confidence } = await replyTo(messages, { profile, metadata });
  return {
    choices: [
      {
        index: 0,
        // The reply is final: `stop`, never `tool_calls`, because the service runs no tools.
        finish_reason: 'stop',
        message: {
          role: 'assistant',
          content,
          ...(toolUses.length > 0 && {
            tool_calls: toolUses.map(({ name, arguments: input, result }) => ({
              id: `call_${randomUUID()}`,
              type: /** @type {const} */ ('function'),
              // The arguments are a JSON text, but the result is an object (spec 2.8).
              function: { name, arguments: JSON.stringify(input), result },
            })),
          }),
        },
      },
    ],
    // The service tells parallel simulations apart by this id. If the request has no id, the
    // response omits it, because null is not a string.
    ...(session_id !== undefined && { session_id }),
    chat_id: `chat_${session_id ?? randomUUID()}`,
    metadata: {
      agent_confidence: confidence,
      response_time_ms: Math.round(performance.now() - startedMs),
      tools_used: [...new Set(toolUses.map(({ name }) => name))],
    },
  };
}
