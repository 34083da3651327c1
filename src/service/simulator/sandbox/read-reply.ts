import { isMessage } from '../../../contract/index.ts';
import { describeType, isObject } from '../../../platform/json.ts';
import type { SandboxCures } from './cures.ts';
import type { SandboxResponse } from './sandbox-http.ts';
import type { AgentReply } from '../agent-reply.ts';
import { SessionError } from '../session-error.ts';
import type { ToolCall } from '../../turns/turn-types.ts';

const TOOL_CALLS_MAX = 1000;

/**
 * Reads the agent's reply from a chat response (spec 2.8). Requires only what the conversation needs;
 * `check` judges the rest.
 *
 * @throws SessionError `agent_error`, or `infrastructure_error` if the key is missing or refused.
 */
export function readReply(
  { status, json, contentType, latencyMs }: SandboxResponse,
  { hasKey, cures }: { hasKey: boolean; cures: SandboxCures },
): AgentReply {
  if (status === 401 || status === 403) {
    throw new SessionError(
      'infrastructure_error',
      hasKey
        ? `The sandbox refuses the key (${status}). ${cures.refusedKey}`
        : `The sandbox requires a key, but none is set (${status}). ${cures.missingKey}`,
    );
  }
  if (status < 200 || status >= 300) {
    const code = isMessage('SandboxError', json) ? ` ${json.error.code}` : '';
    const isUnknownPath = status === 404 && code === '';
    throw agentError(`${status}${code}`, isUnknownPath ? ' Check the base URL.' : '');
  }
  if (json === undefined) {
    throw agentError(
      `${status} with a body that is not JSON (${contentType ?? 'no content type'})`,
    );
  }
  const choices = isObject(json) ? json['choices'] : undefined;
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined;
  const message = isObject(choice) ? choice['message'] : undefined;
  if (!isObject(message)) throw wrongType(status, 'choices[0].message', 'an object', message);
  const { content } = message;
  if (typeof content !== 'string') {
    throw wrongType(status, 'choices[0].message.content', 'a string', content);
  }
  const hints = isObject(json) ? json['evaluation_metadata'] : undefined;
  return {
    content,
    toolCalls: readToolCalls(message['tool_calls']),
    latencyMs,
    ...(isObject(hints) && { evaluationMetadata: hints }),
  };
}

const agentError = (result: string, advice = ''): SessionError =>
  new SessionError('agent_error', `POST /v1/chat/completions returned ${result}.${advice}`);

/** Names the type of what was received, never its value: a reply is text of the conversation. */
function wrongType(status: number, place: string, expected: string, value: unknown): SessionError {
  const hasShownValue = typeof value === 'number' || typeof value === 'boolean';
  const received = hasShownValue ? `a ${typeof value}` : describeType(value);
  return agentError(`${status}, but ${place} is not ${expected}: received ${received}`);
}

/** Reads the tool calls of a reply; unreadable ones are left out. */
export function readToolCalls(value: unknown): ToolCall[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, TOOL_CALLS_MAX).flatMap((call: unknown) => {
    const details = isObject(call) ? call['function'] : undefined;
    const name = isObject(details) ? details['name'] : undefined;
    if (!isObject(details) || typeof name !== 'string') return [];
    return [
      { name, arguments: parseArguments(details['arguments']), result: details['result'] ?? null },
    ];
  });
}

/** Parses JSON-encoded arguments (spec 2.8). Text that is not JSON is returned unchanged. */
function parseArguments(value: unknown): unknown {
  if (typeof value !== 'string') return value ?? null;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
