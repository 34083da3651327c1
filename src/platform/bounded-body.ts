/** Reads the body of a response; undefined if it is longer than `bytesMax`. @throws if it is cut off. */
export async function readBoundedBody(
  { body }: Response,
  bytesMax: number,
): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = [];
  let left = bytesMax;
  // Leaving the loop cancels the body.
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    left -= chunk.byteLength;
    if (left < 0) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
