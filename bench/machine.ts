import { cpus } from 'node:os';

/** Describes the machine that measures. */
export const describeMachine = (): string =>
  `node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}`;

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
