import { brotliDecompressSync, gunzipSync, inflateSync, type ZlibOptions } from 'node:zlib';
import { BODY_BYTES_MAX } from '../engines/transport.ts';

const decoders: Partial<Record<string, (bytes: Uint8Array, bounds: ZlibOptions) => Buffer>> = {
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
};

/** Decodes a body by its Content-Encoding; returns undefined if the body does not match the header. */
export function decodeBody(bytes: Uint8Array, encoding: string): string | undefined {
  const decode = decoders[encoding.trim().toLowerCase()];
  try {
    const plain =
      decode && bytes.length > 0 ? decode(bytes, { maxOutputLength: BODY_BYTES_MAX }) : bytes;
    return Buffer.from(plain.buffer, plain.byteOffset, plain.byteLength).toString('utf8');
  } catch {
    return undefined;
  }
}
