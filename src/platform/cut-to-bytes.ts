const encoder = new TextEncoder();

/** Shortens a text to a number of bytes in UTF-8, without a part of a character at its end. */
export function cutToBytes(text: string, bytesMax: number): string {
  if (text.length * 3 <= bytesMax) return text;
  const { read } = encoder.encodeInto(text, new Uint8Array(bytesMax));
  return text.slice(0, read);
}
