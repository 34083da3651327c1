import { percentileOf } from './percentile.ts';

/** A short stretch of what was heard, such as 10 ms of it. */
export interface SoundWindow {
  /** When it came; on the clock of whoever listens, ascending. */
  atMs: number;
  /** Below the loudest sine, in dB; -Infinity of silence. */
  levelDb: number;
  /** How long it is. */
  ms: number;
}

/** Sound is what is louder than this, and so much louder than the line is at rest. */
const silenceDb = -50;
const aboveNoiseDb = 10;

/** A line that is never at rest does not make speech silent: louder than this is always sound. */
const loudDb = -35;

/** Shorter sound is a click. */
const soundMsMin = 20;

/** Sound that comes after less silence than this goes on. */
const pauseMsMin = 200;

/** When the line became audible, each time after 200 ms of silence or more. */
export function onsetsOf(windows: readonly SoundWindow[]): number[] {
  const threshold = soundThresholdDb(windows);
  const onsets: number[] = [];
  let silentMs = Infinity;
  let open: { atMs: number; ms: number; silentMs: number } | undefined;
  for (const { atMs, levelDb, ms } of windows) {
    if (levelDb <= threshold) {
      // A click leaves the silence as long as it was, with the click in it.
      if (open && open.ms < soundMsMin) silentMs = open.silentMs + open.ms;
      open = undefined;
      silentMs += ms;
      continue;
    }
    open ??= { atMs, ms: 0, silentMs };
    const wasShort = open.ms < soundMsMin;
    open.ms += ms;
    if (wasShort && open.ms >= soundMsMin) {
      if (open.silentMs >= pauseMsMin) onsets.push(open.atMs);
      silentMs = 0;
    }
  }
  return onsets;
}

/** What is louder is sound, on a line that was so loud of late, in dB. */
export function soundThresholdDb(windows: readonly SoundWindow[]): number {
  const noiseDb = percentileOf(
    windows.map(({ levelDb }) => levelDb),
    10,
  );
  return Math.min(loudDb, Math.max(silenceDb, (noiseDb ?? silenceDb) + aboveNoiseDb));
}
