/** Reads and writes Ogg files with one Opus stream (RFC 3533, RFC 7845). */

import { countPacketTicks, delimitPacket } from './packet.ts';
import { FRAME_TICKS } from './frame.ts';

/** The bytes are not a valid Ogg file with Opus. */
export class OggError extends Error {
  override name = 'OggError';
}

const PAGE_HEADER_BYTES = 27;
const CHECKSUM_OFFSET = 22;
const SEGMENT_BYTES_MAX = 255;
const SEGMENTS_MAX = 255;

/** More than an hour of frames of 20 ms. */
const PACKETS_MAX = 200_000;

/**
 * Returns the audio packets of a file in order, without the two header packets. @throws OggError.
 */
export function readOgg(file: Buffer): Buffer[] {
  const packets: Buffer[] = [];
  let parts: Buffer[] = [];
  let at = 0;
  while (at < file.length) {
    if (file.toString('latin1', at, at + 4) !== 'OggS')
      throw new OggError(`Expected an Ogg page at byte ${at}`);
    const segments = file[at + 26] ?? 0;
    const table = file.subarray(at + PAGE_HEADER_BYTES, at + PAGE_HEADER_BYTES + segments);
    const bytes = table.reduce((sum, length) => sum + length, PAGE_HEADER_BYTES + segments);
    if (at + bytes > file.length) throw new OggError('The Ogg file is truncated');
    checkPage(file.subarray(at, at + bytes), at);
    at += PAGE_HEADER_BYTES + segments;
    for (const length of table) {
      parts.push(file.subarray(at, at + length));
      at += length;
      if (length === SEGMENT_BYTES_MAX) continue;
      packets.push(Buffer.concat(parts));
      parts = [];
      if (packets.length > PACKETS_MAX)
        throw new OggError(`The Ogg file contains more than ${PACKETS_MAX} packets`);
    }
  }
  const [head, , ...audio] = packets;
  if (head?.toString('latin1', 0, 8) !== 'OpusHead')
    throw new OggError('The Ogg stream is not Opus');
  return audio;
}

/**
 * Creates an Ogg file from mono packets. A lost packet must be passed as an empty one: it becomes 20 ms
 * of silence, so that times stay correct.
 */
export function writeOgg(packets: readonly Buffer[]): Buffer {
  const head = 'OpusHead\x01\x01\x00\x00\x80\xbb\x00\x00\x00\x00\x00';
  return writePages(
    head,
    packets.map((packet) => (packet.length === 0 ? silentFrame : packet)),
    (packet) => countPacketTicks(packet) ?? FRAME_TICKS,
  );
}

/**
 * Creates an Ogg file with two mono streams of packets of 20 ms: `left` and `right` are played together.
 * Missing packets become silence. Returns undefined if a packet has another duration.
 */
export function writeStereoOgg(
  left: readonly Buffer[],
  right: readonly Buffer[],
): Buffer | undefined {
  const packets: Buffer[] = [];
  for (let nth = 0; nth < Math.max(left.length, right.length); nth += 1) {
    const [first, second] = [frameAt(left, nth), frameAt(right, nth)];
    const delimited = first && delimitPacket(first);
    if (!delimited || !second) return undefined;
    packets.push(Buffer.concat([delimited, second]));
  }
  // Two channels, each from its own stream (RFC 7845, section 5.1.1).
  const head = 'OpusHead\x01\x02\x00\x00\x80\xbb\x00\x00\x00\x00\x01\x02\x00\x00\x01';
  return writePages(head, packets, () => FRAME_TICKS);
}

/** Returns the frame of a stream at an index; undefined if it is not one of 20 ms. */
function frameAt(packets: readonly Buffer[], nth: number): Buffer | undefined {
  const packet = packets[nth];
  if (packet === undefined || packet.length === 0) return silentFrame;
  return countPacketTicks(packet) === FRAME_TICKS ? packet : undefined;
}

/** Writes the pages of a file, from its Opus header and packets. */
function writePages(
  opusHead: string,
  packets: readonly Buffer[],
  ticksOf: (packet: Buffer) => number,
): Buffer {
  const head = Buffer.from(opusHead, 'latin1');
  const tags = Buffer.from('OpusTags\x0b\x00\x00\x00sandbox-kit\x00\x00\x00\x00', 'latin1');
  const pages = [createPage(0, 2, 0n, [head]), createPage(1, 0, 0n, [tags])];
  let ticks = 0n;
  let waiting: Buffer[] = [];
  let segments = 0;
  packets.forEach((packet, index) => {
    const isLast = index === packets.length - 1;
    waiting.push(packet);
    segments += Math.floor(packet.length / SEGMENT_BYTES_MAX) + 1;
    ticks += BigInt(ticksOf(packet));
    // Two Opus packets have at most 2554 bytes: eleven segments.
    if (!isLast && segments < SEGMENTS_MAX - 11) return;
    pages.push(createPage(pages.length, isLast ? 4 : 0, ticks, waiting));
    waiting = [];
    segments = 0;
  });
  return Buffer.concat(pages);
}

/** A silent frame of 20 ms. */
export const silentFrame: Buffer = Buffer.from('f8fffe', 'hex');

function createPage(
  sequence: number,
  flags: number,
  ticks: bigint,
  packets: readonly Buffer[],
): Buffer {
  const table = packets.flatMap(({ length }) => [
    ...Array<number>(Math.floor(length / SEGMENT_BYTES_MAX)).fill(SEGMENT_BYTES_MAX),
    length % SEGMENT_BYTES_MAX,
  ]);
  const header = Buffer.alloc(PAGE_HEADER_BYTES);
  header.write('OggS', 0, 'latin1');
  header[5] = flags;
  header.writeBigUInt64LE(ticks, 6);
  header.writeUInt32LE(1, 14);
  header.writeUInt32LE(sequence, 18);
  header[26] = table.length;
  const bytes = Buffer.concat([header, Buffer.from(table), ...packets]);
  bytes.writeUInt32LE(checksum(bytes), CHECKSUM_OFFSET);
  return bytes;
}

/** Verifies the checksum of a page. @throws OggError. */
function checkPage(bytes: Buffer, at: number): void {
  const blank = Buffer.from(bytes);
  blank.writeUInt32LE(0, CHECKSUM_OFFSET);
  if (checksum(blank) === bytes.readUInt32LE(CHECKSUM_OFFSET)) return;
  throw new OggError(`The Ogg page at byte ${at} is damaged`);
}

const POLYNOMIAL = 0x04c11db7;
const checksums = Uint32Array.from({ length: 256 }, (_, byte) => {
  let remainder = byte << 24;
  for (let bit = 0; bit < 8; bit += 1)
    remainder = remainder & 0x80000000 ? (remainder << 1) ^ POLYNOMIAL : remainder << 1;
  return remainder >>> 0;
});

/** The CRC of RFC 3533: the polynomial of zlib, but neither reflected nor inverted. */
function checksum(bytes: Buffer): number {
  let remainder = 0;
  for (const byte of bytes) {
    remainder = ((remainder << 8) ^ (checksums[(remainder >>> 24) ^ byte] ?? 0)) >>> 0;
  }
  return remainder;
}
