import { brotliDecompressSync, gunzipSync, inflateSync, type ZlibOptions } from 'node:zlib';

const decoders: Partial<Record<string, (bytes: Uint8Array, options: ZlibOptions) => Buffer>> = {
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
};

/**
 * Decodes a body by its Content-Encoding. A body with an unknown encoding is returned unchanged.
 * @throws Error if the bytes don't have the encoding. If there are more than `bytesMax` decoded bytes,
 * its code is `ERR_BUFFER_TOO_LARGE`.
 */
export function decodeContent(bytes: Uint8Array, encoding: string, bytesMax: number): Buffer {
  const decode = decoders[encoding.trim().toLowerCase()];
  if (decode && bytes.length > 0) return decode(bytes, { maxOutputLength: bytesMax });
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
