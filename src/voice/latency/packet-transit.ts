/** When an audio packet arrived, and its position in the stream. */
export interface Transit {
  /** Position in the stream in milliseconds, from any origin; has no jumps. */
  mediaMs: number;
  /** Arrival time on a monotonic clock, from any origin. */
  arrivedAtMs: number;
}

/** A packet is compared with its neighbors within this much stream time. */
const NEIGHBOR_WINDOW_MS = 2_000;

/** With fewer neighbors than this on one side, that side is ignored. */
const NEIGHBORS_MIN = 5;

/**
 * Returns how many milliseconds each packet was late, compared with the fastest of its neighbors,
 * in stream order.
 *
 * A packet counts as late only if it is late compared with the packets before it and with those
 * after it. A single delayed packet is late compared with both. If the sender's timestamps pause,
 * or its clock runs slightly faster or slower than the local one, no packet is late, because all later
 * packets shift as well.
 */
export function measureTransitDelays(packets: readonly Transit[]): number[] {
  const ordered = packets.toSorted((a, b) => a.mediaMs - b.mediaMs);
  const before = findFastest(ordered);
  // In reverse order, the packets after a packet come before it.
  const after = findFastest(
    ordered.toReversed().map((packet) => ({ ...packet, mediaMs: -packet.mediaMs })),
    (packet) => packet.arrivedAtMs + packet.mediaMs,
  ).toReversed();
  return ordered.map((packet, nth) => {
    const sides = [before[nth], after[nth]].filter((side) => side !== undefined);
    const trusted = sides.filter(({ neighbors }) => neighbors >= NEIGHBORS_MIN);
    const bases = (trusted.length > 0 ? trusted : sides).map(({ transitMs }) => transitMs);
    const base = trusted.length > 0 ? Math.max(...bases) : Math.min(...bases);
    return transitOf(packet) - base;
  });
}

const transitOf = ({ mediaMs, arrivedAtMs }: Transit): number => arrivedAtMs - mediaMs;

/**
 * Returns the shortest transit among each packet and those up to `NEIGHBOR_WINDOW_MS` before it,
 * and how many those are.
 */
function findFastest(
  ordered: readonly Transit[],
  transit: (packet: Transit) => number = transitOf,
): { transitMs: number; neighbors: number }[] {
  // The candidates for the fastest packet of a later window, in order of increasing transit.
  const candidates: { mediaMs: number; transitMs: number }[] = [];
  let head = 0;
  let oldest = 0;
  return ordered.map((packet, nth) => {
    const fromMs = packet.mediaMs - NEIGHBOR_WINDOW_MS;
    const transitMs = transit(packet);
    while ((ordered[oldest]?.mediaMs ?? Infinity) < fromMs) oldest += 1;
    while (candidates.length > head && (candidates.at(-1)?.transitMs ?? -Infinity) >= transitMs) {
      candidates.pop();
    }
    candidates.push({ mediaMs: packet.mediaMs, transitMs });
    while ((candidates[head]?.mediaMs ?? Infinity) < fromMs) head += 1;
    return { transitMs: candidates[head]?.transitMs ?? transitMs, neighbors: nth - oldest };
  });
}

/** Packets that waited for the connection arrive within this time after the first packet. */
const BACKLOG_ARRIVAL_MS_MAX = 250;

/** This much audio arriving ahead of time is a backlog; less is jitter. */
const BACKLOG_AUDIO_MS_MIN = 100;

/**
 * Drops the packets that waited for the connection, given packets in order of arrival. A sandbox
 * that starts to record before it is connected sends the recorded audio in one burst. That delay
 * belongs to the call setup, not to the network path.
 */
export function dropBacklog<Packet extends Transit>(packets: readonly Packet[]): Packet[] {
  const [first] = packets;
  if (!first) return [];
  const initial = packets.filter(
    ({ arrivedAtMs }) => arrivedAtMs <= first.arrivedAtMs + BACKLOG_ARRIVAL_MS_MAX,
  );
  const fastest = Math.min(...initial.map(transitOf));
  if (transitOf(first) - fastest < BACKLOG_AUDIO_MS_MIN) return [...packets];
  return packets.slice(packets.findIndex((packet) => transitOf(packet) === fastest));
}
