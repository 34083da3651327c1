/**
 * The limits of a conversation. Pages and evals read a conversation as a whole, so its size decides how
 * much memory and time that takes.
 */

/** The most spans of a conversation. */
export const CONVERSATION_SPANS_MAX = 10_000;

/** The most bytes of text that the spans of a conversation have together: 16 MiB. */
export const CONVERSATION_TEXT_BYTES_MAX = 16_777_216;

/** The most characters of the name of a tag. PostgreSQL indexes at most 2,704 bytes. */
export const TAG_NAME_CHARS_MAX = 256;

/** Tells a client and the ingest log why spans were not stored. */
export const CONVERSATION_FULL_MESSAGE =
  `Rejected: spans beyond the limits of a conversation, which are ${CONVERSATION_SPANS_MAX} spans and ` +
  `${CONVERSATION_TEXT_BYTES_MAX} bytes (16 MiB) of text. Use a new id for each conversation, and don't ` +
  'record files or images in messages.';

/** How much of its limits a conversation uses. */
export interface ConversationSize {
  spanCount: number;
  textBytes: number;
}

/** The texts of a span that count. */
interface SpanTexts {
  operation: string;
  name: string;
  attributes: string;
  input_messages: string | null;
  output_messages: string | null;
}

/** Returns the bytes of the texts of a span in UTF-8. */
export function measureText(span: SpanTexts): number {
  const { operation, name, attributes, input_messages: input, output_messages: output } = span;
  const texts = [operation, name, attributes, input ?? '', output ?? ''];
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}

/** Returns whether a conversation can receive more spans with this many bytes of text. */
export function hasRoom(
  { spanCount, textBytes }: ConversationSize,
  { spanCount: moreSpans, textBytes: moreBytes }: ConversationSize,
): boolean {
  return (
    spanCount + moreSpans <= CONVERSATION_SPANS_MAX &&
    textBytes + moreBytes <= CONVERSATION_TEXT_BYTES_MAX
  );
}

/** Adds to a size. */
export function addSize(size: ConversationSize, more: ConversationSize): void {
  size.spanCount += more.spanCount;
  size.textBytes += more.textBytes;
}

/** Returns whether no span was added between two measurements. */
export const isSameSize = (a: ConversationSize, b: ConversationSize): boolean =>
  a.spanCount === b.spanCount && a.textBytes === b.textBytes;
