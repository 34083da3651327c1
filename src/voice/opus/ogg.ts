/** Ogg files with one stream of Opus (RFC 3533, RFC 7845): read into packets and written from them. */

/** The bytes are no Ogg file with Opus in it; the message says where. */
export class OggError extends Error {
  override name = 'OggError';
}

const PAGE_HEADER_BYTES = 27;
const CHECKSUM_OFFSET = 22;
const SEGMENT_BYTES_MAX = 255;
const SEGMENTS_MAX = 255;

/** More than an hour of frames of 20 ms. */
const PACKETS_MAX = 200_000;

/** The packets of audio in a file, in order, without the two of headers. @throws OggError. */
export function readOgg(file: Buffer): Buffer[] {
  const packets: Buffer[] = [];
  let parts: Buffer[] = [];
  let at = 0;
  while (at < file.length) {
    if (file.toString('latin1', at, at + 4) !== 'OggS') throw new OggError(`no page at byte ${at}`);
    const segments = file[at + 26] ?? 0;
    const table = file.subarray(at + PAGE_HEADER_BYTES, at + PAGE_HEADER_BYTES + segments);
    const bytes = table.reduce((sum, length) => sum + length, PAGE_HEADER_BYTES + segments);
    if (at + bytes > file.length) throw new OggError('the file is cut off');
    checkPage(file.subarray(at, at + bytes), at);
    at += PAGE_HEADER_BYTES + segments;
    for (const length of table) {
      parts.push(file.subarray(at, at + length));
      at += length;
      if (length === SEGMENT_BYTES_MAX) continue;
      packets.push(Buffer.concat(parts));
      parts = [];
      if (packets.length > PACKETS_MAX) throw new OggError(`more than ${PACKETS_MAX} packets`);
    }
  }
  const [head, , ...audio] = packets;
  if (head?.toString('latin1', 0, 8) !== 'OpusHead') throw new OggError('the stream is not Opus');
  return audio;
}

/**
 * An Ogg file of packets of 20 ms each, mono. What was lost is to be given as an empty packet: the
 * file then has silence there, so that times stay true.
 */
export function writeOgg(packets: readonly Buffer[]): Buffer {
  const head = Buffer.from('OpusHead\x01\x01\x00\x00\x80\xbb\x00\x00\x00\x00\x00', 'latin1');
  const tags = Buffer.from('OpusTags\x0b\x00\x00\x00sandbox-kit\x00\x00\x00\x00', 'latin1');
  const pages = [page(0, 2, 0n, [head]), page(1, 0, 0n, [tags])];
  let ticks = 0n;
  let waiting: Buffer[] = [];
  let segments = 0;
  packets.forEach((packet, index) => {
    const isLast = index === packets.length - 1;
    const content = packet.length === 0 ? silentFrame : packet;
    waiting.push(content);
    segments += Math.floor(content.length / SEGMENT_BYTES_MAX) + 1;
    ticks += BigInt(FRAME_TICKS);
    // A packet of Opus has 1275 bytes at most: six segments.
    if (!isLast && segments < SEGMENTS_MAX - 6) return;
    pages.push(page(pages.length, isLast ? 4 : 0, ticks, waiting));
    waiting = [];
    segments = 0;
  });
  return Buffer.concat(pages);
}

/** A frame of 20 ms in which nothing is heard. */
export const silentFrame: Buffer = Buffer.from('f8fffe', 'hex');

/** Ticks of 1/48000 s in a frame of 20 ms. */
export const FRAME_TICKS = 960;

function page(sequence: number, flags: number, ticks: bigint, packets: readonly Buffer[]): Buffer {
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

/** @throws OggError when the page is not what was written. */
function checkPage(bytes: Buffer, at: number): void {
  const blank = Buffer.from(bytes);
  blank.writeUInt32LE(0, CHECKSUM_OFFSET);
  if (checksum(blank) === bytes.readUInt32LE(CHECKSUM_OFFSET)) return;
  throw new OggError(`the page at byte ${at} is damaged`);
}

const POLYNOMIAL = 0x04c11db7;
const checksums = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte << 24;
  for (let bit = 0; bit < 8; bit += 1)
    rest = rest & 0x80000000 ? (rest << 1) ^ POLYNOMIAL : rest << 1;
  return rest >>> 0;
});

/** The CRC of RFC 3533: zlib's polynomial, but neither reflected nor inverted. */
function checksum(bytes: Buffer): number {
  let rest = 0;
  for (const byte of bytes) rest = ((rest << 8) ^ (checksums[(rest >>> 24) ^ byte] ?? 0)) >>> 0;
  return rest;
}
