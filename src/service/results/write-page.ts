/** Writes pages of sessions as JSON, large ones in parts. */
import { Readable } from 'node:stream';

/** A larger response is sent in parts, so that it never is in memory as a whole. */
const WHOLE_CHARS_MAX = 4_194_304;

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
export async function writePage(page: PageParts): Promise<string | Readable> {
  const parts = writeParts(page);
  let text = '';
  for (;;) {
    const next = await parts.next();
    if (next.done === true) return text;
    text += next.value;
    if (text.length > WHOLE_CHARS_MAX) return Readable.from(continueWith(text, parts));
  }
}

async function* continueWith(first: string, rest: AsyncGenerator<string>): AsyncGenerator<Buffer> {
  yield* split(first);
  for await (const text of rest) yield* split(text);
}

/** Encodes a text and splits it, so that a slow client makes the process keep few bytes. */
function* split(text: string): Generator<Buffer> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += PART_BYTES_MAX) {
    yield bytes.subarray(at, at + PART_BYTES_MAX);
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
