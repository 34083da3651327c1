import type { Sound } from './wav.ts';

/** Zero crossings of the filter on each side; enough that no image of a voice is heard. */
const crossings = 16;

/** The same sound at another rate: each sample is read off a low-pass of its neighbours. */
export function resampled({ samples, rate }: Sound, toRate: number): Sound {
  const length = Math.floor((samples.length * toRate) / rate);
  const result = new Float32Array(length);
  const cutoff = Math.min(1, toRate / rate);
  const reach = crossings / cutoff;
  for (let nth = 0; nth < length; nth += 1) {
    const centre = (nth * rate) / toRate;
    const from = Math.max(0, Math.ceil(centre - reach));
    const to = Math.min(samples.length - 1, Math.floor(centre + reach));
    let sum = 0;
    for (let at = from; at <= to; at += 1) {
      sum += (samples[at] ?? 0) * lowPass((at - centre) * cutoff);
    }
    result[nth] = sum * cutoff;
  }
  return { samples: result, rate: toRate };
}

/** A sinc under a Hann window. */
function lowPass(crossing: number): number {
  if (crossing === 0) return 1;
  if (Math.abs(crossing) >= crossings) return 0;
  const angle = Math.PI * crossing;
  return (Math.sin(angle) / angle) * (0.5 + 0.5 * Math.cos(angle / crossings));
}
