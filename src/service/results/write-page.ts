/** Writes pages of sessions as JSON, large ones in parts. */
import { Readable } from 'node:stream';
import type { UnreadResponse, UnreadResponses } from './unread-responses.ts';

/** A larger response is sent in parts, so that it never is in memory as a whole. */
const WHOLE_CHARS_MAX = 1_048_576;

/** Bytes of one part. */
const PART_BYTES_MAX = 262_144;

/** A page of a list, whose items are written as JSON one after another. */
export interface PageParts {
  items: AsyncIterable<string>;
  total: number;
  skip: number;
  limit: number;
}

/**
 * Returns the JSON of a page: a text, or a stream if it is long. Until the text is long, an error rejects;
 * later, it ends the stream and so the connection.
 */
export async function writePage(
  page: PageParts,
  responses: UnreadResponses,
): Promise<string | Readable> {
  const parts = writeParts(page);
  let text = '';
  for (;;) {
    const next = await parts.next();
    if (next.done === true) return text;
    text += next.value;
    if (text.length > WHOLE_CHARS_MAX) return streamFrom(Buffer.from(text), parts, responses);
  }
}

function streamFrom(
  first: Buffer,
  rest: AsyncGenerator<string>,
  responses: UnreadResponses,
): Readable {
  const unread = responses.open(() => stream.destroy());
  const stream = Readable.from(continueWith(first, rest, unread));
  // The stream may be destroyed before anything is read from it.
  stream.once('close', () => unread.close());
  return stream;
}

/** Continues with parts of a few bytes, so that a slow client makes the process keep little. */
async function* continueWith(
  first: Buffer,
  rest: AsyncGenerator<string>,
  unread: UnreadResponse,
): AsyncGenerator<Buffer> {
  try {
    let bytes: Buffer | undefined = first;
    while (bytes) {
      unread.keep(bytes.length);
      for (let at = 0; at < bytes.length; at += PART_BYTES_MAX) {
        yield bytes.subarray(at, at + PART_BYTES_MAX);
        unread.noteRead();
      }
      unread.keep(0);
      bytes = undefined;
      const next = await rest.next();
      if (next.done !== true) bytes = Buffer.from(next.value);
    }
  } finally {
    await rest.return(undefined);
  }
}

async function* writeParts({ items, total, skip, limit }: PageParts): AsyncGenerator<string> {
  yield '{"items":[';
  let separator = '';
  for await (const item of items) {
    yield `${separator}${item}`;
    separator = ',';
  }
  yield `],${JSON.stringify({ total, skip, limit }).slice(1)}`;
}
