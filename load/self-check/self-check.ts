import type { SelfCheck, SelfCheckFigure } from '../../src/contract/index.ts';
import { seconds, trimmed } from '../verdict/amounts.ts';
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

/** How much of the generator's own doing may be in what is measured. */
export interface GeneratorLimits {
  lagP99MsMax: number;
  lagMsMax: number;
  /** Share of the time in which the event loop was busy, 0 to 1. */
  loopBusyMax: number;
  /** Of one core. */
  cpuPercentMax: number;
}

/** 5 % of the chat target at the latest, 1 % as a rule. */
export const GENERATOR_LIMITS: GeneratorLimits = {
  lagP99MsMax: 50,
  lagMsMax: 250,
  loopBusyMax: 0.7,
  cpuPercentMax: 70,
};

/**
 * Whether the generator kept up. Where it did not, what was measured is of the generator, and no
 * target is judged.
 */
export function selfCheck(
  figures: GeneratorFigures,
  limits: GeneratorLimits = GENERATOR_LIMITS,
  more: readonly string[] = [],
): SelfCheck {
  const { lagP99Ms, lagMaxMs, missed, held, localFaults, cost } = figures;
  const rows: SelfCheckFigure[] = [
    row('send lag p99', lagP99Ms ?? 0, limits.lagP99MsMax, 'ms'),
    row('send lag max', lagMaxMs ?? 0, limits.lagMsMax, 'ms'),
    row('requests not sent', missed, 0, ''),
    row('requests held back', held, 0, ''),
    row('local errors', localFaults, 0, ''),
    row('event loop busy', Math.round(cost.loopBusy * 1000) / 10, limits.loopBusyMax * 100, '%'),
    row('processor', cost.cpuPercent, limits.cpuPercentMax, '% of a core'),
  ];
  const broken = rows.filter(({ holds }) => !holds);
  const reasons = [...more, ...(broken.length === 0 ? [] : [lateSentence(broken, '--rate')])];
  return { valid: reasons.length === 0, reasons, figures: rows };
}

/** One figure against what is allowed of it. */
export function row(name: string, value: number, limit: number, unit: string): SelfCheckFigure {
  return { name, value: Math.round(value * 100) / 100, limit, unit, holds: value <= limit };
}

/** That the generator could not keep up, and where; `flag` makes it do less. */
export function lateSentence(broken: readonly SelfCheckFigure[], flag: string): string {
  const amount = (value: number, unit: string): string =>
    unit === 'ms' ? seconds(value) : `${trimmed(value, 1)} ${unit}`.trimEnd();
  const said = broken.map(
    ({ name, value, limit, unit }) => `${name} ${amount(value, unit)} (${limit} allowed)`,
  );
  return `The generator could not keep up: ${said.join(', ')}. Run it on a quieter or faster machine, or with a lower ${flag}.`;
}
