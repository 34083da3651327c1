/** Ticks of 1/48000 s per frame, by configuration number (RFC 6716, table 2). */
const CONFIGURATION_TICKS = [
  ...[480, 960, 1920, 2880, 480, 960, 1920, 2880, 480, 960, 1920, 2880],
  ...[480, 960, 480, 960],
  ...[120, 240, 480, 960, 120, 240, 480, 960, 120, 240, 480, 960, 120, 240, 480, 960],
];
const FRAME_BYTES_MAX = 1_275;
const PACKET_TICKS_MAX = 5_760;

/**
 * Returns the duration of an Opus packet in ticks of 1/48000 s; undefined for bytes that are not a
 * valid packet (RFC 6716, section 3.4).
 */
export function countPacketTicks(packet: Uint8Array): number | undefined {
  const [toc] = packet;
  if (toc === undefined) return undefined;
  const frames = countFrames(packet, toc & 3);
  const ticks = (frames ?? 0) * (CONFIGURATION_TICKS[toc >> 3] ?? 0);
  return ticks > 0 && ticks <= PACKET_TICKS_MAX ? ticks : undefined;
}

/** Returns the number of frames of a packet; undefined if their lengths are impossible. */
function countFrames(packet: Uint8Array, code: number): number | undefined {
  const rest = packet.length - 1;
  if (code === 0) return rest <= FRAME_BYTES_MAX ? 1 : undefined;
  if (code === 1) return rest % 2 === 0 && rest / 2 <= FRAME_BYTES_MAX ? 2 : undefined;
  if (code === 2) {
    const first = readLength(packet, 1);
    const second = first && rest - first.bytes - first.length;
    return second !== undefined && second >= 0 && second <= FRAME_BYTES_MAX ? 2 : undefined;
  }
  return countFramesOfCode3(packet);
}

/**
 * Counts the frames of a packet with code 3: a frame count, optional padding, and an optional length
 * for each frame but the last.
 */
function countFramesOfCode3(packet: Uint8Array): number | undefined {
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
  if (!(flags & 128)) {
    return left >= 0 && left % frames === 0 && left / frames <= FRAME_BYTES_MAX
      ? frames
      : undefined;
  }
  for (let frame = 1; frame < frames; frame += 1) {
    const next = readLength(packet, at);
    if (!next) return undefined;
    at += next.bytes;
    left -= next.bytes + next.length;
  }
  return left >= 0 && left <= FRAME_BYTES_MAX ? frames : undefined;
}

function readLength(packet: Uint8Array, at: number): { bytes: number; length: number } | undefined {
  const [first, second] = [packet[at], packet[at + 1]];
  if (first === undefined) return undefined;
  if (first < 252) return { bytes: 1, length: first };
  return second === undefined ? undefined : { bytes: 2, length: second * 4 + first };
}
