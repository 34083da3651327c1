import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { mean } from '../../../src/platform/mean.ts';

/** Measurements before this one contain what is loaded and compiled once. */
const WARM_UP = 3;

interface Measurement {
  inputs: number;
  bytes: number;
}

/** How much memory a target uses after garbage collection. */
export interface HeapUse {
  bytes: number;
  /** By how much the last third of the measurements exceeds the first third. */
  growthBytes: number;
  /** Slope of the least squares line. */
  bytesPerInput: number;
}

/** Measures the memory of this thread over the course of a run. */
interface HeapMeter {
  /** Collects garbage, and measures what is left after so many inputs. */
  measure(inputs: number): void;
  use(): HeapUse;
}

export function createHeapMeter(): HeapMeter {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const measurements: Measurement[] = [];
  return {
    measure(inputs) {
      // Finalizers of the first collection free more.
      collect();
      collect();
      const { heapUsed, external } = process.memoryUsage();
      measurements.push({ inputs, bytes: heapUsed + external });
    },
    use: () => describeUse(measurements),
  };
}

function describeUse(measurements: readonly Measurement[]): HeapUse {
  const steady = measurements.slice(Math.min(WARM_UP, Math.max(0, measurements.length - 3)));
  const third = Math.ceil(steady.length / 3);
  const growthBytes = meanBytes(steady.slice(-third)) - meanBytes(steady.slice(0, third));
  return {
    bytes: measurements.at(-1)?.bytes ?? 0,
    growthBytes,
    bytesPerInput: findSlope(steady),
  };
}

const meanBytes = (measurements: readonly Measurement[]): number =>
  mean(measurements.map(({ bytes }) => bytes));

function findSlope(measurements: readonly Measurement[]): number {
  const [x, y] = [mean(measurements.map(({ inputs }) => inputs)), meanBytes(measurements)];
  let [covariance, variance] = [0, 0];
  for (const { inputs, bytes } of measurements) {
    covariance += (inputs - x) * (bytes - y);
    variance += (inputs - x) ** 2;
  }
  return variance === 0 ? 0 : covariance / variance;
}
