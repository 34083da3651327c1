import type { Transit } from './transit.ts';

/** How long after the first packet of a call what waited for its connection may still come. */
const backlogMsMax = 250;

/** So much sound, come before its time, is a backlog; less is jitter. */
const soundMsMin = 100;

/**
 * The packets of a call without those that waited for its connection. A sandbox that begins to record
 * before it is connected sends what it has by then in one go: that is a time of the set-up, and says
 * nothing of how long the way of the audio is. In the order of arrival, from the first one on.
 */
export function withoutBacklog<Packet extends Transit>(packets: readonly Packet[]): Packet[] {
  const [first] = packets;
  if (!first) return [];
  const transitMs = ({ arrivedAtMs, mediaMs }: Transit): number => arrivedAtMs - mediaMs;
  const atOnce = packets.filter(
    ({ arrivedAtMs }) => arrivedAtMs <= first.arrivedAtMs + backlogMsMax,
  );
  const soonest = Math.min(...atOnce.map(transitMs));
  if (transitMs(first) - soonest < soundMsMin) return [...packets];
  return packets.slice(packets.findIndex((packet) => transitMs(packet) === soonest));
}
