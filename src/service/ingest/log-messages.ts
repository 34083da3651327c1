import { CONVERSATION_ID_BYTES_MAX, CONVERSATION_ID_LENGTH_MAX } from '../../contract/index.ts';
import { storedSpanMessages } from '../store/span-writer.ts';
import type { LogMessage, ProblemSolution } from '../store/store.ts';
import type { DialectTopic } from './dialects/dialect.ts';

/**
 * The messages of the ingest log, by stable code: what happened to the spans, and how to fix it.
 * `store/span-writer.ts` has the messages that depend on stored data.
 */
export const logMessages = {
  no_conversation_id: {
    level: 'error',
    message:
      'The request has no conversation id: no span with gen_ai.operation.name has a ' +
      'gen_ai.conversation.id, and there is no X-Conversation-Id header. Set the attribute on the ' +
      'spans, or send the header.',
  },
  malformed_ids: {
    level: 'error',
    message:
      'Dropped: spans with an invalid id. A trace id must be 32 hexadecimal digits and a span id 16, ' +
      'not all zeros. In OTLP/JSON, ids are hexadecimal, not base64.',
  },
  unresolved_conversation: {
    level: 'error',
    message:
      'Dropped: spans without a conversation id in traces without one. Set gen_ai.conversation.id on ' +
      'the span or on another span of its trace.',
  },
  malformed_conversation_id: {
    level: 'warn',
    message:
      'Ignored: an invalid conversation id. It must be a string (stringValue) of 1 to ' +
      `${CONVERSATION_ID_LENGTH_MAX} characters (at most ${CONVERSATION_ID_BYTES_MAX} bytes in UTF-8) that ` +
      'are not all whitespace.',
  },
  conflicting_conversation_ids: {
    level: 'warn',
    message:
      'Stored in two conversations: spans of one trace. Some have a gen_ai.conversation.id, and the ' +
      'X-Conversation-Id header gives the others a different id. Send the same id in both, or omit ' +
      'the header.',
  },
  conversation_id_on_resource: {
    level: 'warn',
    message:
      'Ignored: gen_ai.conversation.id on a resource. Set it on the spans, or send the ' +
      'X-Conversation-Id header.',
  },
  empty_request: {
    level: 'info',
    message: 'The request contains no spans. If you expected some, check the exporter.',
  },
  ignored_keys: {
    level: 'warn',
    message:
      'Ignored: keys in snake_case. OTLP/JSON uses lowerCamelCase, for example resourceSpans.',
  },
  ignored_spans: {
    level: 'info',
    message:
      'Ignored: spans without gen_ai.operation.name. Spans of a conversation need it, with a value ' +
      'such as chat, execute_tool or invoke_agent.',
  },
  malformed_operation: {
    level: 'warn',
    message:
      'Ignored: spans whose gen_ai.operation.name is not a non-empty string. Set it to a value such ' +
      'as chat.',
  },
  older_conventions: {
    level: 'warn',
    message:
      'Ignored: spans of an older version of the GenAI conventions, without gen_ai.operation.name. ' +
      'Upgrade the instrumentation, or opt in to the newer conventions.',
  },
  operation_without_turn: {
    level: 'info',
    message:
      'Stored, but not part of any turn: only chat, execute_tool and invoke_agent spans make turns.',
  },
  no_messages: {
    level: 'info',
    solvedBy: 'text',
    message:
      'Stored without text: the chat span has neither gen_ai.input.messages nor ' +
      'gen_ai.output.messages. Turn on the capture of message content in the instrumentation, or set ' +
      'them yourself as JSON, for example ' +
      '[{"role":"user","parts":[{"type":"text","content":"Hello"}]}].',
  },
  other_text: {
    level: 'warn',
    solvedBy: 'text',
    message:
      'Stored without text: the chat span has its text in an attribute that is not read. Record it in ' +
      'gen_ai.input.messages and gen_ai.output.messages, as a JSON array of messages.',
  },
  malformed_messages: {
    level: 'warn',
    solvedBy: 'text',
    message:
      'Stored, but unreadable: the messages are not a JSON array. If they are truncated, raise the ' +
      'attribute length limit of the SDK.',
  },
  malformed_parent_id: {
    level: 'warn',
    message: 'Stored as a root span: a parent span id must be 16 hexadecimal digits.',
  },
  repeated_span_id: {
    level: 'warn',
    message:
      'Dropped: spans that repeat a span id within the request. The first one is stored. Generate a ' +
      'new id for each span.',
  },
  ends_before_start: {
    level: 'warn',
    message: 'Stored, but the span ends before it starts. Check how its times are measured.',
  },
  implausible_time: {
    level: 'warn',
    message:
      'Stored, but a time of the span is before the year 2000 or more than a day in the future. Times ' +
      'are nanoseconds since the Unix epoch, not milliseconds or microseconds.',
  },
  shortened_tags: {
    level: 'info',
    message: 'Truncated: tags whose key exceeds 256 characters or whose value exceeds 1 kB.',
  },
  dropped_tags: {
    level: 'warn',
    solvedBy: 'nothing',
    message:
      'Dropped: tags beyond the limits of a request, 64 per conversation and 50,000 in total. Tags ' +
      'are all attributes outside gen_ai.*. Send fewer of them.',
  },
} as const satisfies Record<string, LogMessage>;

/** A code of `logMessages`. */
export type LogCode = keyof typeof logMessages;

/** What happens to spans in a dialect that the service can't read: the code and the message. */
export const dialectOutcomes = {
  withoutOperation: {
    code: 'unreadable_spans',
    describe: (name: string) => `Ignored: spans of ${name}.`,
  },
  withoutMessages: {
    code: 'unreadable_messages',
    solvedBy: 'text',
    describe: (name: string) => `Stored without text: chat spans of ${name}.`,
  },
  withoutInput: {
    code: 'unreadable_input',
    solvedBy: 'text',
    describe: (name: string) => `Stored without input: chat spans of ${name}.`,
  },
  withoutToolDetails: {
    code: 'unreadable_tool_calls',
    describe: (name: string) => `Stored without details: tool calls of ${name}.`,
  },
  withoutTurn: {
    code: 'unreadable_operation',
    describe: (name: string) => `Stored, but not part of any turn: model calls of ${name}.`,
  },
} as const satisfies Partial<Record<DialectTopic, DialectOutcome>>;

interface DialectOutcome extends Pick<LogMessage, 'solvedBy'> {
  code: string;
  describe: (name: string) => string;
}

/** Returns what solves the problems of the ingest log, by code, if it is not any later trace. */
export function listSolutions(): ReadonlyMap<string, ProblemSolution> {
  const messages: Readonly<Record<string, LogMessage>> = { ...logMessages, ...storedSpanMessages };
  const ofDialects: readonly DialectOutcome[] = Object.values(dialectOutcomes);
  const all = [
    ...Object.entries(messages).map(([code, { solvedBy }]) => ({ code, solvedBy })),
    ...ofDialects,
    // The spans of a request that was rejected for its size are lost.
    { code: 'too_large', solvedBy: 'nothing' } as const,
  ];
  return new Map(all.flatMap(({ code, solvedBy }) => (solvedBy ? [[code, solvedBy]] : [])));
}
