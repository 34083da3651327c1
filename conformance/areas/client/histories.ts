/** Which model calls continue the messages of earlier ones. */
import { createHash } from 'node:crypto';
import {
  INPUT_KEY,
  OUTPUT_KEY,
  readConversationId,
  type AttributeValue,
  type TraceSpan,
} from '../../../src/contract/index.ts';
import { computeOnce } from '../../../src/platform/compute-once.ts';
import { isObject, parseJson } from '../../../src/platform/json.ts';
import type { Transcript } from '../../engine/transcript/reading.ts';
import { tracesOf } from './sent-traces.ts';

/** The most messages of a model call to compare. */
const MESSAGES_MAX = 200;

/** Returns the messages of an attribute as texts that can be compared; system messages are left out. */
function listMessages(value: AttributeValue | undefined): string[] {
  const messages = typeof value === 'string' ? parseJson(value) : value;
  if (!Array.isArray(messages) || messages.length > MESSAGES_MAX) return [];
  return messages.flatMap((message: unknown) => {
    if (!isObject(message) || message['role'] === 'system') return [];
    return [JSON.stringify([message['role'], message['parts'] ?? message['content']])];
  });
}

const hashOf = (messages: readonly string[]): string =>
  createHash('sha256').update(messages.join('\n')).digest('base64');

/** The conversations of completed model calls, by their messages: the input, and then the output. */
const conversationsByHistory = computeOnce(
  (transcript: Transcript): ReadonlyMap<string, ReadonlySet<string>> => {
    const byHistory = new Map<string, Set<string>>();
    for (const span of [...tracesOf(transcript).values()].flat()) {
      const id = readConversationId(span);
      const input = listMessages(span.attributes[INPUT_KEY]);
      const output = listMessages(span.attributes[OUTPUT_KEY]);
      if (id === undefined || input.length === 0 || output.length === 0) continue;
      const key = hashOf([...input, ...output]);
      byHistory.set(key, (byHistory.get(key) ?? new Set()).add(id));
    }
    return byHistory;
  },
);

/**
 * Returns another conversation whose messages a model call repeats as its history; undefined if its
 * own conversation has the same messages, as conversations have that follow a script.
 */
export function findContinuedConversation(
  span: TraceSpan,
  transcript: Transcript,
): string | undefined {
  const own = readConversationId(span);
  const input = listMessages(span.attributes[INPUT_KEY]);
  const byHistory = conversationsByHistory(transcript);
  for (let length = input.length - 1; length >= 2; length -= 1) {
    const ids = byHistory.get(hashOf(input.slice(0, length)));
    if (ids && own !== undefined) return ids.has(own) ? undefined : [...ids][0];
  }
  return undefined;
}
