import { findPercentile } from '../../platform/percentile.ts';
import { SPEECH_LEVEL_DB, type LevelWindow } from './level-meter.ts';

/** Speech is at least this much louder than the noise floor of the line. */
const ABOVE_NOISE_DB = 10;

/** A constantly noisy line must not hide speech: anything louder than this is always speech. */
const ALWAYS_SPEECH_DB = -35;

/** The noise floor is the level that this share of the windows does not exceed. */
const NOISE_PERCENTILE = 10;

/** Shorter sound is a click. */
const SPEECH_MS_MIN = 20;

/** Sound after less silence than this continues the same speech. */
export const PAUSE_MS_MIN = 200;

/** Returns the times when the line became audible after at least 200 ms of silence. */
export function findOnsets(windows: readonly LevelWindow[]): number[] {
  const thresholdDb = speechThresholdDb(windows);
  const onsets: number[] = [];
  let silentMs = Infinity;
  let sound: { atMs: number; ms: number; silentBeforeMs: number } | undefined;
  for (const { atMs, levelDb, ms } of windows) {
    if (levelDb <= thresholdDb) {
      // A click does not interrupt the silence around it.
      if (sound && sound.ms < SPEECH_MS_MIN) silentMs = sound.silentBeforeMs + sound.ms;
      sound = undefined;
      silentMs += ms;
      continue;
    }
    sound ??= { atMs, ms: 0, silentBeforeMs: silentMs };
    const wasClick = sound.ms < SPEECH_MS_MIN;
    sound.ms += ms;
    if (wasClick && sound.ms >= SPEECH_MS_MIN) {
      if (sound.silentBeforeMs >= PAUSE_MS_MIN) onsets.push(sound.atMs);
      silentMs = 0;
    }
  }
  return onsets;
}

/** Returns the level above which sound counts as speech, given the recent levels of the line. */
export function speechThresholdDb(windows: readonly LevelWindow[]): number {
  const levels = windows.map(({ levelDb }) => levelDb);
  const noiseDb = findPercentile(levels, NOISE_PERCENTILE) ?? SPEECH_LEVEL_DB;
  return Math.min(ALWAYS_SPEECH_DB, Math.max(SPEECH_LEVEL_DB, noiseDb + ABOVE_NOISE_DB));
}
