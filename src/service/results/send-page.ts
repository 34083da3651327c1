/** Sends pages of sessions, large ones in parts. */
import { Readable } from 'node:stream';

/** A larger response is sent in parts, so that it never is in memory as a whole. */
const WHOLE_CHARS_MAX = 4_194_304;

/** A page of a list, whose items are made one after another. */
export interface PageParts {
  items: AsyncIterable<object>;
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

async function* continueWith(first: string, rest: AsyncGenerator<string>): AsyncGenerator<string> {
  yield first;
  yield* rest;
}

async function* writeParts({ items, total, skip, limit }: PageParts): AsyncGenerator<string> {
  yield '{"items":[';
  let separator = '';
  for await (const item of items) {
    yield `${separator}${JSON.stringify(item)}`;
    separator = ',';
  }
  yield `],${JSON.stringify({ total, skip, limit }).slice(1)}`;
}
