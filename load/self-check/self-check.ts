import type { SelfCheck, SelfCheckFigure } from '../../src/contract/index.ts';
import type { Cost } from './meter.ts';

/** What is known of the generator after a run. */
export interface GeneratorFigures {
  /** How late requests left: 99th percentile and latest, in milliseconds; null where none did. */
  lagP99Ms: number | null;
  lagMaxMs: number | null;
  /** Requests that were due and never left. */
  missed: number;
  /** Requests that had to wait for the transport. */
  held: number;
  /** Failures of this machine: no more ports, files or memory. */
  localFaults: number;
  cost: Cost;
}

/** 5 % of the chat target at the latest, 1 % as a rule. */
const LAG_P99_MS_MAX = 50;
const LAG_MS_MAX = 250;
const LOOP_BUSY_MAX = 0.7;
const CPU_PERCENT_MAX = 70;

/**
 * Whether the generator kept up. Where it did not, what was measured is of the generator, and no
 * target is judged.
 */
export function selfCheck(figures: GeneratorFigures, more: readonly string[] = []): SelfCheck {
  const { lagP99Ms, lagMaxMs, missed, held, localFaults, cost } = figures;
  const rows: SelfCheckFigure[] = [
    row('send lag p99', lagP99Ms ?? 0, LAG_P99_MS_MAX, 'ms'),
    row('send lag max', lagMaxMs ?? 0, LAG_MS_MAX, 'ms'),
    row('requests not sent', missed, 0, ''),
    row('requests held back', held, 0, ''),
    row('local errors', localFaults, 0, ''),
    row('event loop busy', Math.round(cost.loopBusy * 1000) / 10, LOOP_BUSY_MAX * 100, '%'),
    row('processor', cost.cpuPercent, CPU_PERCENT_MAX, '% of a core'),
  ];
  const broken = rows.filter(({ holds }) => !holds).map(inWords);
  const reasons = [...more, ...broken];
  return { valid: reasons.length === 0, reasons, figures: rows };
}

function row(name: string, value: number, limit: number, unit: string): SelfCheckFigure {
  return { name, value: Math.round(value * 100) / 100, limit, unit, holds: value <= limit };
}

const inWords = ({ name, value, limit, unit }: SelfCheckFigure): string =>
  `The generator could not keep up: ${`${name} ${value} ${unit}`.trim()}, ${limit} allowed. Run it on a quieter or faster machine, or at a lower --rate.`;
