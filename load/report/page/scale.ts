/** One direction of a chart: which values it shows, and how they are spread. */
export interface Axis {
  min: number;
  max: number;
  spread: 'even' | 'logarithmic';
  ticks: readonly { value: number; label: string }[];
}

/** Where a value stands on an axis, 0 at its beginning and 1 at its end; held inside. */
export function place({ min, max, spread }: Axis, value: number): number {
  const at = (one: number): number => (spread === 'even' ? one : Math.log10(Math.max(one, 1e-9)));
  const share = (at(value) - at(min)) / Math.max(1e-12, at(max) - at(min));
  return Math.min(1, Math.max(0, share));
}

/** An axis from 0 to at least `max`, with some three to six round ticks. */
export function evenAxis(max: number, label: (value: number) => string): Axis {
  const top = Math.max(max, 1);
  const rough = top / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = Math.max(1, power * ([1, 2, 5, 10].find((one) => one * power >= rough) ?? 10));
  const count = Math.ceil(top / step - 1e-9);
  const ticks = Array.from({ length: count + 1 }, (_, index) => index * step);
  return {
    min: 0,
    max: count * step,
    spread: 'even',
    ticks: ticks.map((value) => ({ value, label: label(value) })),
  };
}

const DECADES = [0.1, 1, 10, 100, 1_000, 10_000, 100_000];

/** A logarithmic axis of times in milliseconds that shows `min` to `max`. */
export function timeAxis(min: number, max: number): Axis {
  const low = DECADES.findLast((one) => one <= min) ?? 0.1;
  const high = Math.max(max * 1.15, low * 10);
  const ticks = DECADES.filter((one) => one >= low && one <= high);
  return {
    min: low,
    max: high,
    spread: 'logarithmic',
    ticks: ticks.map((value) => ({ value, label: shortTime(value) })),
  };
}

/** "50 ms", "5 s". */
export function shortTime(ms: number): string {
  return ms < 1000 ? `${ms} ms` : `${ms / 1000} s`;
}

/** An axis of seconds, from the ramp (below 0) to the end of the drain. */
export function clockAxis(from: number, to: number, ticksMax: number): Axis {
  const span = Math.max(1, to - from);
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 14_400];
  const step = steps.find((one) => span / one <= ticksMax) ?? 28_800;
  const ticks: Axis['ticks'][number][] = [];
  for (let value = Math.ceil(from / step) * step; value <= to; value += step) {
    ticks.push({ value, label: clockLabel(value) });
  }
  return { min: from, max: from + span, spread: 'even', ticks };
}

function clockLabel(second: number): string {
  if (Math.abs(second) < 120) return `${second} s`;
  const minutes = second / 60;
  return Number.isInteger(minutes) ? `${minutes} min` : `${minutes.toFixed(1)} min`;
}
