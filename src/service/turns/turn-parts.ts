import type { StoredSpan } from '../store/records.ts';
import type { Message } from './messages.ts';

/** A span with its messages. */
export interface Step {
  span: StoredSpan;
  input: Message[];
  output: Message[];
}

/** A wrapper with the model calls inside it, or a model call without a wrapper. */
export interface Segment {
  /** The `invoke_agent` span, if there is one. */
  wrapper: Step | undefined;
  /** Model calls. A call inside another call is the same call recorded twice, and is left out. */
  chats: Step[];
}

/** The spans of one turn. */
export interface TurnSpans {
  /** At least one. A tool loop has several if no wrapper contains all of it. */
  segments: Segment[];
  /** `execute_tool` spans. */
  tools: StoredSpan[];
  /** All other spans, including nested agents and model calls; the first span of the turn is first. */
  spans: StoredSpan[];
}
