import { isObject, parseJson } from '../../platform/json.ts';
import type { IngestLogEntry } from '../store/records.ts';
import type { ToolCall, TracedTurn } from './turn-types.ts';

/** Something that a turn lacks, or contains in a form that is not read. The spans look valid. */
export interface TurnLoss {
  kind: TurnLossKind;
  /** The number of the turn; 1 for the first one. */
  sequence: number;
}

/** Returns whether a code of the ingest log is a kind of loss. */
export const isTurnLoss = (code: string): boolean => Object.hasOwn(lossMessages, code);

/** The kinds of losses, as codes of the ingest log. */
export type TurnLossKind = keyof typeof lossMessages;

const lossMessages = {
  messages_as_text: {
    level: 'warn',
    message:
      'The user message of a turn is the JSON text of many messages, so turns and tool calls are ' +
      'wrong. @traceloop/instrumentation-openai writes the OpenAI Responses API in this way. Use ' +
      "chat completions (in OpenAI Agents: setOpenAIAPI('chat_completions')), or write each message " +
      'with its own role and parts.',
  },
  turn_without_user_text: {
    level: 'warn',
    message:
      'A turn has an agent response, but no user message. Record gen_ai.input.messages on its chat ' +
      'or invoke_agent span.',
  },
  turn_without_agent_text: {
    level: 'warn',
    message:
      'A turn has a user message, but no agent response. If the agent responded, record ' +
      'gen_ai.output.messages on the chat span of that response.',
  },
  unnamed_tool_call: {
    level: 'warn',
    message:
      'A tool call has no name, so no eval of tool calls can find it. Record gen_ai.tool.name on its ' +
      'execute_tool span, or the name in its tool_call part.',
  },
  tool_call_without_details: {
    level: 'info',
    message:
      'A tool call has neither arguments nor a result. If evals need them, record ' +
      'gen_ai.tool.call.arguments and gen_ai.tool.call.result on its execute_tool span.',
  },
} as const satisfies Record<string, Pick<IngestLogEntry, 'level' | 'message'>>;

/** Finds what turns lack. A turn without any text was reported when its spans arrived. */
export function findTurnLosses(turns: readonly TracedTurn[]): TurnLoss[] {
  return turns.flatMap((turn) =>
    listKinds(turn).map((kind) => ({ kind, sequence: turn.sequence })),
  );
}

function listKinds({ userInput, agentResponse, toolCalls, failed }: TracedTurn): TurnLossKind[] {
  // Everything else about this turn is wrong for the same reason.
  if (isMessageList(userInput)) return ['messages_as_text'];
  const kinds: TurnLossKind[] = [];
  if (userInput === '' && agentResponse !== '') kinds.push('turn_without_user_text');
  if (userInput !== '' && agentResponse === '' && !failed) kinds.push('turn_without_agent_text');
  if (toolCalls.some(({ name }) => name === '')) kinds.push('unnamed_tool_call');
  if (toolCalls.some(hasNoDetails)) kinds.push('tool_call_without_details');
  return kinds;
}

const hasNoDetails = ({ arguments: input, result }: ToolCall): boolean =>
  input === null && result === null;

/** Returns whether a text is a JSON array of messages or items of a model API. */
function isMessageList(text: string): boolean {
  if (!/^\s*\[\s*\{/.test(text)) return false;
  const items = parseJson(text);
  if (!Array.isArray(items)) return false;
  return items.some(isMessage) && items.every((item) => isMessage(item) || isTyped(item));
}

const isMessage = (item: unknown): boolean =>
  isObject(item) && typeof item['role'] === 'string' && ('content' in item || 'parts' in item);

const isTyped = (item: unknown): boolean => isObject(item) && typeof item['type'] === 'string';

/**
 * Describes losses of a conversation for the ingest log: one entry per kind, about the first turn, with
 * the number of turns.
 */
export function describeTurnLosses(
  conversationId: string,
  losses: readonly TurnLoss[],
): IngestLogEntry[] {
  const byKind = Map.groupBy(losses, ({ kind }) => kind);
  return Array.from(byKind, ([kind, [first, ...more]]) => ({
    ...lossMessages[kind],
    code: kind,
    about: {
      conversation_id: conversationId,
      ...(first && { turn: first.sequence }),
      count: more.length + 1,
    },
  }));
}
