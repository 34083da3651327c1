/** When a packet of audio came, and where it stands in its stream. */
export interface Transit {
  /** Milliseconds of sound before it, from any origin; never leaps. */
  mediaMs: number;
  /** On one clock, from any origin. */
  arrivedAtMs: number;
}

/** Packets so far from each other, in the time of the stream, are held against each other. */
const NEIGHBOR_WINDOW_MS = 2_000;

/** Fewer packets than these on one side of a packet say nothing of that side. */
const NEIGHBORS_MIN = 5;

/**
 * By how many milliseconds each packet was late, against those of its neighbours that came soonest;
 * in the order of the stream.
 *
 * A packet counts as late when it is so against the packets before it and against those after it.
 * What is held up once is late against both. A sender whose timestamps stand still in a pause, or
 * whose clock runs a little faster or slower than ours, makes no packet late: all that follows has
 * moved with it.
 */
export function measureTransitDelays(packets: readonly Transit[]): number[] {
  const ordered = packets.toSorted((one, other) => one.mediaMs - other.mediaMs);
  const before = soonest(ordered);
  // Seen from its end, what comes after a packet comes before it.
  const after = soonest(
    ordered.toReversed().map((packet) => ({ ...packet, mediaMs: -packet.mediaMs })),
    (packet) => packet.arrivedAtMs + packet.mediaMs,
  ).toReversed();
  return ordered.map((packet, nth) => {
    const sides = [before[nth], after[nth]].filter((side) => side !== undefined);
    const trusted = sides.filter(({ neighbours }) => neighbours >= NEIGHBORS_MIN);
    const bases = (trusted.length > 0 ? trusted : sides).map(({ transitMs }) => transitMs);
    const base = trusted.length > 0 ? Math.max(...bases) : Math.min(...bases);
    return transitOf(packet) - base;
  });
}

const transitOf = ({ mediaMs, arrivedAtMs }: Transit): number => arrivedAtMs - mediaMs;

/** The shortest transit among a packet and those up to `windowMs` before it, and how many these are. */
function soonest(
  ordered: readonly Transit[],
  transit: (packet: Transit) => number = transitOf,
): { transitMs: number; neighbours: number }[] {
  // Those that may still be the soonest of a later window: each is slower than the one before.
  const waiting: { mediaMs: number; transitMs: number }[] = [];
  let head = 0;
  let oldest = 0;
  return ordered.map((packet, nth) => {
    const fromMs = packet.mediaMs - NEIGHBOR_WINDOW_MS;
    const transitMs = transit(packet);
    while ((ordered[oldest]?.mediaMs ?? Infinity) < fromMs) oldest += 1;
    while (waiting.length > head && (waiting.at(-1)?.transitMs ?? -Infinity) >= transitMs) {
      waiting.pop();
    }
    waiting.push({ mediaMs: packet.mediaMs, transitMs });
    while ((waiting[head]?.mediaMs ?? Infinity) < fromMs) head += 1;
    return { transitMs: waiting[head]?.transitMs ?? transitMs, neighbours: nth - oldest };
  });
}

/** How long after the first packet of a call what waited for its connection may still come. */
const BACKLOG_ARRIVAL_MS_MAX = 250;

/** So much sound, come before its time, is a backlog; less is jitter. */
const BACKLOG_AUDIO_MS_MIN = 100;

/**
 * The packets of a call without those that waited for its connection. A sandbox that begins to record
 * before it is connected sends what it has by then in one go: that is a time of the set-up, and says
 * nothing of how long the way of the audio is. In the order of arrival, from the first one on.
 */
export function dropBacklog<Packet extends Transit>(packets: readonly Packet[]): Packet[] {
  const [first] = packets;
  if (!first) return [];
  const transitMs = ({ arrivedAtMs, mediaMs }: Transit): number => arrivedAtMs - mediaMs;
  const atOnce = packets.filter(
    ({ arrivedAtMs }) => arrivedAtMs <= first.arrivedAtMs + BACKLOG_ARRIVAL_MS_MAX,
  );
  const soonest = Math.min(...atOnce.map(transitMs));
  if (transitMs(first) - soonest < BACKLOG_AUDIO_MS_MIN) return [...packets];
  return packets.slice(packets.findIndex((packet) => transitMs(packet) === soonest));
}
