import { PAUSE_MS_MIN, speechThresholdDb, type LevelWindow } from '../activity/index.ts';
import type { SpeechSpan } from '../speech-span.ts';
import { measureTransitDelays } from '../latency/index.ts';
import { TICKS_PER_MS, TIMESTAMP_JUMP_TICKS_MAX } from '../opus/index.ts';
import type { AudioPacket } from '../peer/index.ts';

/** The header fields and the arrival time of a received packet. */
export type LanePacket = Pick<AudioPacket, 'sequence' | 'timestamp' | 'ssrc' | 'arrivedAtMs'>;

/** When the agent could be heard, and where its audio was interrupted, on the monotonic clock. */
export interface AgentLane {
  speech: SpeechSpan[];
  gaps: SpeechSpan[];
  /** When the last packet ended; -Infinity without one. */
  endMs: number;
}

/** More than 30 minutes of packets of 20 ms; later packets are ignored. */
const PACKETS_MAX = 100_000;

/** Less sound than this is a click, not speech. */
const SOUND_MS_MIN = 60;
/** A packet that arrives at most this late is played in time: the delay of this process or of the network. */
const JITTER_MS_MAX = 40;
/** A longer interruption by missing or late audio is a gap. */
const GAP_MS_MIN = 60;

interface RecordedPacket {
  number: number;
  mediaMs: number;
  arrivedAtMs: number;
  windows: readonly LevelWindow[];
}

/** Records the packets of the agent, and computes at the end of the call when it could be heard. */
export class AgentLaneRecorder {
  /** Segments from one sender without timestamp jumps. */
  readonly #segments: RecordedPacket[][] = [];
  #last: (LanePacket & { number: number; mediaMs: number }) | undefined;
  #count = 0;

  /** Adds a packet with its levels, in order of arrival. */
  add(packet: LanePacket, windows: readonly LevelWindow[]): void {
    if (this.#count >= PACKETS_MAX) return;
    this.#count += 1;
    const { sequence, timestamp, ssrc, arrivedAtMs } = packet;
    const last = this.#last;
    const elapsedTicks = last ? (timestamp - last.timestamp) | 0 : 0;
    const isNew = last?.ssrc !== ssrc || Math.abs(elapsedTicks) > TIMESTAMP_JUMP_TICKS_MAX;
    if (isNew) this.#segments.push([]);
    const number = isNew ? 0 : last.number + (((sequence - last.sequence) << 16) >> 16);
    const mediaMs = isNew ? 0 : last.mediaMs + elapsedTicks / TICKS_PER_MS;
    this.#last = { sequence, timestamp, ssrc, arrivedAtMs, number, mediaMs };
    this.#segments.at(-1)?.push({ number, mediaMs, arrivedAtMs, windows });
  }

  /** Returns what could be heard so far. */
  lane(): AgentLane {
    const levels = this.#segments.flatMap((packets) => packets.flatMap(({ windows }) => windows));
    const thresholdDb = speechThresholdDb(levels);
    const sounds: SpeechSpan[] = [];
    const gaps: SpeechSpan[] = [];
    let endMs = -Infinity;
    for (const segment of this.#segments) {
      const played = play(segment, thresholdDb);
      sounds.push(...played.sounds);
      gaps.push(...played.gaps);
      endMs = Math.max(endMs, played.endMs);
    }
    return { speech: joinSounds(sounds), gaps, endMs };
  }
}

/**
 * Returns when a listener hears the packets of a segment. The jitter buffer hides a small delay, audio
 * that arrives early waits for the audio before it, and silence makes up for delays.
 */
function play(
  segment: readonly RecordedPacket[],
  thresholdDb: number,
): { sounds: SpeechSpan[]; gaps: SpeechSpan[]; endMs: number } {
  const ordered = segment.toSorted((a, b) => a.mediaMs - b.mediaMs);
  const delaysMs = measureTransitDelays(ordered);
  const sounds: SpeechSpan[] = [];
  const gaps: SpeechSpan[] = [];
  let audibleUntilMs = -Infinity;
  let endMs = -Infinity;
  let previous: (RecordedPacket & { isLoud: boolean; endMs: number }) | undefined;
  for (const [nth, packet] of ordered.entries()) {
    const { windows, arrivedAtMs } = packet;
    const inTimeMs = arrivedAtMs - Math.min(delaysMs[nth] ?? 0, JITTER_MS_MAX);
    const startMs = Math.max(inTimeMs, audibleUntilMs);
    let atMs = startMs;
    for (const { levelDb, ms } of windows) {
      if (levelDb > thresholdDb) sounds.push({ startMs: atMs, endMs: atMs + ms });
      atMs += ms;
    }
    const isLoud = windows.some(({ levelDb }) => levelDb > thresholdDb);
    if (isLoud) audibleUntilMs = atMs;
    const isHeard = previous !== undefined && startMs - previous.endMs > GAP_MS_MIN;
    if (isHeard && isLoud && previous?.isLoud && isGap(previous, packet)) {
      gaps.push({ startMs: previous.endMs, endMs: startMs });
    }
    endMs = Math.max(endMs, atMs);
    previous = { ...packet, isLoud, endMs: atMs };
  }
  return { sounds, gaps, endMs };
}

/** Whether the audio between two packets was missing or late. */
function isGap(before: RecordedPacket, after: RecordedPacket): boolean {
  const elapsedMs = after.mediaMs - before.mediaMs;
  const packets = after.number - before.number;
  const missingMs = packets > 1 ? elapsedMs * (1 - 1 / packets) : 0;
  return missingMs > GAP_MS_MIN || after.arrivedAtMs - before.arrivedAtMs - elapsedMs > GAP_MS_MIN;
}

/** Joins sounds to stretches of speech, without clicks. */
function joinSounds(sounds: readonly SpeechSpan[]): SpeechSpan[] {
  const joined: (SpeechSpan & { soundMs: number })[] = [];
  for (const { startMs, endMs } of sounds.toSorted((a, b) => a.startMs - b.startMs)) {
    const last = joined.at(-1);
    if (last && startMs - last.endMs < PAUSE_MS_MIN) {
      last.endMs = Math.max(last.endMs, endMs);
      last.soundMs += endMs - startMs;
    } else joined.push({ startMs, endMs, soundMs: endMs - startMs });
  }
  return joined
    .filter(({ soundMs }) => soundMs >= SOUND_MS_MIN)
    .map(({ startMs, endMs }) => ({ startMs, endMs }));
}
