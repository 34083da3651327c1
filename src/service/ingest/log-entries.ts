import type { IngestLogEntry } from '../store/store.ts';

interface NoteRow {
  level: IngestLogEntry['level'];
  message: string;
}

/**
 * Everything that ingest says of what it was sent, by a code that never changes: what became of it,
 * and how to mend it. No other file writes such a sentence.
 */
export const logMessages = {
  no_conversation_id: {
    level: 'error',
    message:
      'The request has no conversation id: no span with gen_ai.operation.name carries ' +
      'gen_ai.conversation.id, and there is no X-Conversation-Id header. Set the attribute on the ' +
      'spans, or send the header.',
  },
  malformed_ids: {
    level: 'error',
    message:
      'A span is dropped unless its trace id has 32 hexadecimal digits and its span id 16, neither ' +
      'all zero. In OTLP/JSON they are hexadecimal, not base64.',
  },
  unresolved_conversation: {
    level: 'error',
    message:
      'Dropped: the span has no conversation id of its own, and no span of its trace has one, here ' +
      'or stored. Set gen_ai.conversation.id on it or on a span of its trace.',
  },
  malformed_conversation_id: {
    level: 'warn',
    message:
      'Passed over: a conversation id must be a string of 1 to 1024 characters, not ' +
      'all of them blanks. Send it as a stringValue.',
  },
  conversation_id_on_resource: {
    level: 'warn',
    message:
      'Passed over: gen_ai.conversation.id stands on the resource, where it is not read. Set it on ' +
      'the spans, or send X-Conversation-Id.',
  },
  empty_request: {
    level: 'info',
    message: 'The request holds no spans. If it should, look at what the exporter sends.',
  },
  ignored_keys: {
    level: 'warn',
    message:
      'Ignored: keys in snake_case, which OTLP/JSON does not know. Write them in lowerCamelCase, ' +
      'such as resourceSpans.',
  },
  ignored_spans: {
    level: 'info',
    message:
      'Ignored: spans without gen_ai.operation.name. Those that belong to a conversation need it: ' +
      'chat, execute_tool or invoke_agent.',
  },
  malformed_operation: {
    level: 'warn',
    message: 'Ignored: gen_ai.operation.name must be a string that is not empty, such as chat.',
  },
  older_conventions: {
    level: 'warn',
    message:
      'Ignored: spans of an older generation of the GenAI conventions, without ' +
      'gen_ai.operation.name. Upgrade the instrumentation, or let it opt in to the newer ones.',
  },
  operation_without_turn: {
    level: 'info',
    message:
      'Kept, but makes no turn: only chat, execute_tool and invoke_agent are read as parts of a ' +
      'conversation.',
  },
  no_messages: {
    level: 'info',
    message:
      'Kept, but without text: the chat span has neither gen_ai.input.messages nor ' +
      'gen_ai.output.messages. Turn on the capture of message content in the instrumentation.',
  },
  malformed_messages: {
    level: 'warn',
    message:
      'Kept as it came: the messages are not a JSON array, so nothing can be read from them. If ' +
      'they are cut off, raise the length limit of attributes in the SDK.',
  },
  malformed_parent_id: {
    level: 'warn',
    message: 'Kept as the root of a trace: a parent span id must be 16 hexadecimal digits.',
  },
  repeated_span_id: {
    level: 'warn',
    message:
      'Dropped: the request holds the span id before. The first one is kept; make a new id for ' +
      'each span.',
  },
  ends_before_start: {
    level: 'warn',
    message: 'Kept: the span ends before it starts. Look at how its times are taken.',
  },
  implausible_time: {
    level: 'warn',
    message:
      'Kept: the span starts before the year 2000 or more than a day from now. Times are ' +
      'nanoseconds since the Unix epoch, neither milliseconds nor microseconds.',
  },
  shortened_tags: {
    level: 'info',
    message: 'Kept, cut short: a tag has a key of up to 256 characters and a value of up to 1 kB.',
  },
  dropped_tags: {
    level: 'warn',
    message:
      'Dropped: a request may bring 64 tags for each conversation, and 50 000 in all. Tags are ' +
      'what stands outside gen_ai.*; send fewer of them.',
  },
} as const satisfies Record<string, NoteRow>;

/** A code of the table above. */
export type LogCode = keyof typeof logMessages;

/**
 * Gathers the notes of one request: one for each code, about the first case, with the number of
 * cases. So a request of any size brings but a handful.
 */
export class LogEntryCollector {
  readonly #cases = new Map<LogCode, { about: IngestLogEntry['about']; count: number }>();

  /** Never give it text of a conversation: ids, names of attributes and numbers only. */
  add(code: LogCode, about: IngestLogEntry['about'] = {}): void {
    const known = this.#cases.get(code);
    if (known) known.count++;
    else this.#cases.set(code, { about, count: 1 });
  }

  /** In the order in which each was first made. */
  notes(): IngestLogEntry[] {
    return Array.from(this.#cases, ([code, { about, count }]) => ({
      ...logMessages[code],
      code,
      about: { ...about, count },
    }));
  }
}
