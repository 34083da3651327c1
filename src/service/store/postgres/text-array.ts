const TEXT_OID = 25;

/** The number of dimensions, whether there are nulls, the type, and the length and start of the dimension. */
const HEADER_BYTES = 20;

/**
 * Encodes a parameter of the type `text[]` in the binary format of PostgreSQL. The driver would send it
 * as one text, which it escapes and the server parses character by character.
 */
export function encodeTextArray(texts: readonly (string | null)[]): Buffer {
  const lengths = texts.map((text) => (text === null ? -1 : Buffer.byteLength(text)));
  const bytes = lengths.reduce((sum, length) => sum + 4 + Math.max(length, 0), HEADER_BYTES);
  const array = Buffer.allocUnsafe(bytes);
  let offset = 0;
  for (const value of [1, Number(lengths.includes(-1)), TEXT_OID, texts.length, 1]) {
    offset = array.writeInt32BE(value, offset);
  }
  for (const [nth, text] of texts.entries()) {
    offset = array.writeInt32BE(lengths[nth] ?? -1, offset);
    if (text !== null) offset += array.write(text, offset);
  }
  return array;
}
