/** Ticks of 1/48000 s per frame, by configuration number (RFC 6716, table 2). */
const CONFIGURATION_TICKS = [
  ...[480, 960, 1920, 2880, 480, 960, 1920, 2880, 480, 960, 1920, 2880],
  ...[480, 960, 480, 960],
  ...[120, 240, 480, 960, 120, 240, 480, 960, 120, 240, 480, 960, 120, 240, 480, 960],
];
const FRAME_BYTES_MAX = 1_275;
const PACKET_TICKS_MAX = 5_760;

/** A packet this small carries no sound: the codec signals silence with it (DTX). */
export const SILENT_PACKET_BYTES_MAX = 3;

/**
 * Returns the duration of an Opus packet in ticks of 1/48000 s; undefined for bytes that are not a
 * valid packet (RFC 6716, section 3.4).
 */
export function countPacketTicks(packet: Uint8Array): number | undefined {
  const [toc = 0] = packet;
  const ticks = (readFraming(packet)?.frames ?? 0) * (CONFIGURATION_TICKS[toc >> 3] ?? 0);
  return ticks > 0 && ticks <= PACKET_TICKS_MAX ? ticks : undefined;
}

/**
 * Returns a packet in the form that also contains the length of its last frame, so that another packet
 * can follow (RFC 6716, appendix B); undefined for bytes that are not a valid packet.
 */
export function delimitPacket(packet: Uint8Array): Buffer | undefined {
  const framing = readFraming(packet);
  if (!framing) return undefined;
  const { headerBytes, lastLength } = framing;
  const first = 252 + (lastLength & 3);
  const length = lastLength < 252 ? [lastLength] : [first, (lastLength - first) >> 2];
  const [header, frames] = [packet.subarray(0, headerBytes), packet.subarray(headerBytes)];
  return Buffer.concat([header, Buffer.from(length), frames]);
}

/** The frames of a packet. */
interface Framing {
  frames: number;
  /** Everything before the first frame. */
  headerBytes: number;
  /** Length of the last frame. */
  lastLength: number;
}

/** Reads the header of a packet; undefined if its lengths are impossible. */
function readFraming(packet: Uint8Array): Framing | undefined {
  const [toc] = packet;
  if (toc === undefined) return undefined;
  const code = toc & 3;
  const rest = packet.length - 1;
  if (code === 0) return checkFraming({ frames: 1, headerBytes: 1, lastLength: rest });
  if (code === 1) return checkFraming({ frames: 2, headerBytes: 1, lastLength: rest / 2 });
  if (code === 3) return readFramingOfCode3(packet);
  const first = readLength(packet, 1);
  if (!first) return undefined;
  const lastLength = rest - first.bytes - first.length;
  return checkFraming({ frames: 2, headerBytes: 1 + first.bytes, lastLength });
}

const checkFraming = (framing: Framing): Framing | undefined => {
  const { lastLength } = framing;
  const isPossible = Number.isInteger(lastLength) && lastLength >= 0;
  return isPossible && lastLength <= FRAME_BYTES_MAX ? framing : undefined;
};

/**
 * Reads the header of a packet with code 3: a frame count, optional padding, and an optional length for
 * each frame but the last.
 */
function readFramingOfCode3(packet: Uint8Array): Framing | undefined {
  const flags = packet[1];
  const frames = (flags ?? 0) & 63;
  if (flags === undefined || frames === 0) return undefined;
  let at = 2;
  let padding = 0;
  if (flags & 64) {
    let byte = 255;
    while (byte === 255) {
      byte = packet[at] ?? -1;
      if (byte < 0) return undefined;
      at += 1;
      padding += byte === 255 ? 254 : byte;
    }
  }
  let left = packet.length - at - padding;
  if (!(flags & 128)) return checkFraming({ frames, headerBytes: at, lastLength: left / frames });
  for (let frame = 1; frame < frames; frame += 1) {
    const next = readLength(packet, at);
    if (!next) return undefined;
    at += next.bytes;
    left -= next.bytes + next.length;
  }
  return checkFraming({ frames, headerBytes: at, lastLength: left });
}

function readLength(packet: Uint8Array, at: number): { bytes: number; length: number } | undefined {
  const [first, second] = [packet[at], packet[at + 1]];
  if (first === undefined) return undefined;
  if (first < 252) return { bytes: 1, length: first };
  return second === undefined ? undefined : { bytes: 2, length: second * 4 + first };
}
