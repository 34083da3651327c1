import { isMessage } from '../../contract/index.ts';
import { isObject } from '../../platform/json.ts';
import type { Answer } from './sandbox-http.ts';
import { SessionFault, type AgentReply, type ReplyToolCall } from './simulated-session.ts';

const toolCallsMax = 1000;

/**
 * What the agent says, out of its answer (spec 2.8). Only what the conversation needs must be there:
 * whether all else is as the interface has it, `check` says. @throws SessionFault `agent_error`.
 */
export function readReply({ status, json, contentType, latencyMs }: Answer): AgentReply {
  if (status === 401 || status === 403) {
    const says = `The sandbox refuses the key (${status}); see SANDBOX_KIT_API_KEY.`;
    throw new SessionFault('infrastructure_error', says);
  }
  if (status < 200 || status >= 300) {
    const code = isMessage('SandboxError', json) ? ` ${json.error.code}` : '';
    const isElsewhere = status === 404 && code === '';
    throw wrong(`${status}${code}`, isElsewhere ? ' Is the base address right?' : '');
  }
  if (json === undefined) {
    const type = contentType ?? 'without a content type';
    throw wrong(`${status}, but the answer is not JSON (${type})`);
  }
  const choices = isObject(json) ? json['choices'] : undefined;
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
  const message = isObject(choice) ? choice['message'] : undefined;
  if (!isObject(message)) throw wrong(`${status} without choices[0].message`);
  const { content } = message;
  if (typeof content !== 'string') throw wrong(`${status} without a text as content`);
  const hints = isObject(json) ? json['evaluation_metadata'] : undefined;
  return {
    content,
    toolCalls: toolCallsIn(message['tool_calls']),
    latencyMs,
    ...(isObject(hints) && { evaluationMetadata: hints }),
  };
}

const wrong = (how: string, more = ''): SessionFault =>
  new SessionFault('agent_error', `POST /v1/chat/completions answered ${how}.${more}`);

/** The tool calls that a reply has, as far as they can be read. */
export function toolCallsIn(given: unknown): ReplyToolCall[] {
  if (!Array.isArray(given)) return [];
  return given.slice(0, toolCallsMax).flatMap((call: unknown) => {
    const made = isObject(call) ? call['function'] : undefined;
    const name = isObject(made) ? made['name'] : undefined;
    if (!isObject(made) || typeof name !== 'string') return [];
    return [{ name, arguments: argumentsIn(made['arguments']), result: made['result'] ?? null }];
  });
}

/** A JSON-encoded string (spec 2.8); one that is not JSON stays as it is. */
function argumentsIn(given: unknown): unknown {
  if (typeof given !== 'string') return given ?? null;
  try {
    return JSON.parse(given);
  } catch {
    return given;
  }
}
