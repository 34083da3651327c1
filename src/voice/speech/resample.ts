import type { PcmAudio } from './wav.ts';

/** Zero crossings of the filter on each side: enough to make aliasing of speech inaudible. */
const ZERO_CROSSINGS = 16;

/** Resamples audio with a windowed low-pass filter. */
export function resample({ samples, rate }: PcmAudio, toRate: number): PcmAudio {
  const result = new Float32Array(Math.floor((samples.length * toRate) / rate));
  const cutoff = Math.min(1, toRate / rate);
  const reach = Math.ceil(ZERO_CROSSINGS / cutoff);
  // The position of a sample between two input samples repeats, so the filter weights do as well.
  const phases = toRate / findGreatestDivisor(rate, toRate);
  const weights = new Map<number, Float32Array>();
  for (let nth = 0; nth < result.length; nth += 1) {
    const center = Math.floor((nth * rate) / toRate);
    const phase = nth % phases;
    const filter = weights.get(phase) ?? weightsAt((nth * rate) / toRate - center, reach, cutoff);
    if (!weights.has(phase)) weights.set(phase, filter);
    let sum = 0;
    for (let tap = 0; tap < filter.length; tap += 1) {
      sum += (samples[center - reach + tap] ?? 0) * (filter[tap] ?? 0);
    }
    result[nth] = sum;
  }
  return { samples: result, rate: toRate };
}

/**
 * Returns the filter weights of the neighbors from `reach` before to `reach` after, for a
 * fractional offset.
 */
function weightsAt(offset: number, reach: number, cutoff: number): Float32Array {
  return Float32Array.from(
    { length: 2 * reach + 2 },
    (_, tap) => cutoff * lowPass((tap - reach - offset) * cutoff),
  );
}

/** A sinc function with a Hann window. */
function lowPass(crossing: number): number {
  if (crossing === 0) return 1;
  if (Math.abs(crossing) >= ZERO_CROSSINGS) return 0;
  const angle = Math.PI * crossing;
  return (Math.sin(angle) / angle) * (0.5 + 0.5 * Math.cos(angle / ZERO_CROSSINGS));
}

function findGreatestDivisor(a: number, b: number): number {
  return b === 0 ? a : findGreatestDivisor(b, a % b);
}
