import { measureLevelDb, SPEECH_LEVEL_DB } from '../activity/index.ts';
import type { PcmAudio } from './wav.ts';

const WINDOWS_PER_SECOND = 100;

/** Many agents take a longer pause for the end of the turn. */
const PAUSE_WINDOWS_MAX = 9;
const KEPT_PAUSE_WINDOWS = 8;

/** Target level of speech in its louder parts, in dB. */
export const SPEECH_DB = -20;

/** The maximum sample value. */
const PEAK_MAX = 0.8;

/**
 * Normalizes the loudness of a line, trims silence at both ends, and shortens pauses. Returns no
 * samples if the line is silent.
 */
export function normalizeLine({ samples, rate }: PcmAudio): PcmAudio {
  const size = Math.round(rate / WINDOWS_PER_SECOND);
  const louder = amplify(samples, size);
  const isLoud: boolean[] = [];
  for (let at = 0; at < louder.length; at += size) {
    isLoud.push(measureLevelDb(louder, at, Math.min(louder.length, at + size)) > SPEECH_LEVEL_DB);
  }
  const kept = selectWindows(isLoud);
  const line = new Float32Array(kept.length * size);
  kept.forEach((window, nth) => {
    line.set(louder.subarray(window * size, (window + 1) * size), nth * size);
  });
  return { samples: line, rate };
}

/** Amplifies audio so that its louder parts reach the target level; silence does not count. */
function amplify(samples: Float32Array, size: number): Float32Array {
  const levels: number[] = [];
  let peak = 0;
  for (const sample of samples) peak = Math.max(peak, Math.abs(sample));
  for (let at = 0; at + size <= samples.length; at += size) {
    levels.push(measureLevelDb(samples, at, at + size));
  }
  const loud = levels.filter((level) => level > SPEECH_LEVEL_DB - 20).sort((a, b) => a - b);
  const speechDb = loud[Math.floor(loud.length * 0.75)];
  if (speechDb === undefined || peak === 0) return samples;
  const gain = Math.min(10 ** ((SPEECH_DB - speechDb) / 20), PEAK_MAX / peak);
  return samples.map((sample) => sample * gain);
}

/** Returns the windows to keep, in order. */
function selectWindows(isLoud: readonly boolean[]): number[] {
  const kept: number[] = [];
  const last = isLoud.lastIndexOf(true);
  let pauseStart = -1;
  for (let window = isLoud.indexOf(true); window >= 0 && window <= last; window += 1) {
    if (!isLoud[window]) {
      if (pauseStart < 0) pauseStart = window;
      continue;
    }
    if (pauseStart >= 0) kept.push(...shortenPause(pauseStart, window));
    pauseStart = -1;
    kept.push(window);
  }
  return kept;
}

/** Removes the middle of a long pause; its start and end fade out and in. */
function shortenPause(start: number, end: number): number[] {
  const windows = Array.from({ length: end - start }, (_, nth) => start + nth);
  if (windows.length <= PAUSE_WINDOWS_MAX) return windows;
  return [...windows.slice(0, KEPT_PAUSE_WINDOWS / 2), ...windows.slice(-KEPT_PAUSE_WINDOWS / 2)];
}
