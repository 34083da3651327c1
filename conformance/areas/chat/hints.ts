import { malformedBodyHint, type RefusalHint } from '../../engine/checks/refusal-hints.ts';
import type { MalformedChatStep } from './steps.ts';

/** Hints for invalid values in a chat reply. */
export const replyHints = {
  content: (received: unknown): string =>
    Array.isArray(received)
      ? "Join the parts into one string; `content` of a reply can't be an array."
      : 'Send a string, even when the reply contains tool calls. Send "" if there is no text.',

  confidence: (received: unknown): string | undefined =>
    typeof received === 'number' && received > 1
      ? 'Send a fraction from 0 to 1, not a percentage.'
      : undefined,

  milliseconds: (received: unknown): string | undefined =>
    typeof received === 'number' ? 'Round it to whole milliseconds.' : undefined,

  toolCalls: (received: unknown): string =>
    received === false
      ? 'Omit `tool_calls` when the agent called no tool.'
      : 'Send an array of objects: {"id", "type": "function", "function": {...}}.',

  arguments: (received: unknown): string | undefined =>
    typeof received === 'object' && received !== null
      ? 'Encode the arguments as a JSON string.'
      : undefined,

  result: (received: unknown): string =>
    received === undefined
      ? 'Add the result of the tool to `function`, next to `arguments`, in the reply that uses it.'
      : 'Wrap the result in an object.',
};

/** Returns what to do about a reply with another session id than its request. */
export function sessionEchoHint(sent: string, received: string): string {
  const [expected, actual] = [sent.toLowerCase(), received.toLowerCase()];
  if (expected === actual) return 'Echo the session id without changing uppercase or lowercase.';
  if (expected.includes(actual) || actual.includes(expected)) {
    return 'Echo the whole session id, without a prefix or suffix.';
  }
  return "Echo the session id of this request: don't generate one or share it between requests.";
}

const messagesHint = { accepted: 'Check that `messages` is an array of objects.' };
const roleHint = {
  accepted: 'Check that the role of every message is system, user, or assistant.',
};
const contentHint = { accepted: 'Check that the content of every message is a string.' };

/** Hints for malformed requests that the sandbox doesn't refuse with 400, by step. */
export const chatRefusalHints: Readonly<Record<MalformedChatStep, RefusalHint>> = {
  'messages missing': messagesHint,
  'messages a string': messagesHint,
  'messages an object': messagesHint,
  'messages null': messagesHint,
  'message a string': messagesHint,
  'role missing': roleHint,
  'role a number': roleHint,
  'role tool': roleHint,
  'role unknown': roleHint,
  'role unknown in the last of two': roleHint,
  'content missing': contentHint,
  'content missing in the first of two': contentHint,
  'content a number': contentHint,
  'content an object': contentHint,
  'content null': contentHint,
  'body not JSON': malformedBodyHint,
  'body empty': malformedBodyHint,
  'body an array': malformedBodyHint,
};
