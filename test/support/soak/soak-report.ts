/** The report of a long run: a row for each measure, and the errors. */
import type { Dialect } from '../../../src/service/store/schema/table.ts';
import type { GrowthVerdict, Judgment } from './judge-growth.ts';

/** What a long run was, and what went wrong. */
export interface SoakRun {
  store: Dialect;
  unit: 'minutes' | 'days';
  machine: string;
  duration: number;
  requests: number;
  /** Requests that were sent to another replica, because theirs ended. */
  moved: number;
  restarts: number;
  errors: string[];
}

/** The result of a long run: the content of `report.json`. */
export interface SoakReport extends SoakRun {
  /** From when on growth is judged. */
  warmUp: number;
  judgments: Judgment[];
}

const ORDER: readonly GrowthVerdict[] = ['unexplained', 'not proven', 'explained', 'flat'];

/** Formats a value: bytes as MB or kB, and times in milliseconds. */
export function formatValue(value: number, unit: Judgment['unit']): string {
  if (!Number.isFinite(value)) return value < 0 ? '-∞' : '∞';
  if (unit === 'bytes') {
    const isLarge = Math.abs(value) >= 100_000;
    return isLarge ? `${(value / 1e6).toFixed(1)} MB` : `${(value / 1e3).toFixed(1)} kB`;
  }
  if (unit === 'ms') return `${value.toFixed(Math.abs(value) < 100 ? 1 : 0)} ms`;
  return Number.isInteger(value) ? value.toLocaleString('en') : value.toFixed(1);
}

/** Writes a report as Markdown. */
export function formatReport(report: SoakReport): string {
  const { store, unit, duration, warmUp, requests, moved, restarts, errors, judgments } = report;
  const rows = ORDER.flatMap((verdict) =>
    judgments.filter((judgment) => judgment.verdict === verdict),
  ).map(({ name, unit, verdict, level, growth, tolerated, perUnit, reason = '' }) => {
    const format = (value: number): string => formatValue(value, unit);
    const bounds = `${format(growth.low)} to ${format(growth.high)}`;
    const each = perUnit === undefined ? '' : `, ${format(perUnit)} each`;
    const why = verdict === 'explained' ? `${reason}${each}` : '';
    const cells = [name, verdict, format(level), format(growth.estimate), bounds];
    return `| ${[...cells, format(tolerated), why].join(' | ')} |`;
  });
  return [
    `${report.machine}; ${store}: ${duration.toFixed(1)} ${unit}, judged from ${warmUp.toFixed(1)}`,
    `${requests} requests, ${moved} moved to another replica, ${restarts} restarts`,
    `${errors.length} errors`,
    ...errors.map((error) => `- ${error}`),
    '',
    '| measure | verdict | level | growth | 90% interval | tolerated | explanation |',
    '|---|---|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}
