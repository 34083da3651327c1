import type {
  LoadReport,
  LoadTarget,
  LoadVerdict,
  StreamReport,
} from '../../src/contract/index.ts';
import { wrap, type ApplyStyle, type Style } from '../../src/report-kit/terminal.ts';
import { faultWords } from '../record/fault-words.ts';
import { grouped, instant, seconds, trimmed } from '../verdict/amounts.ts';
import { showable } from './showable.ts';
import { voiceBlock } from './terminal-voice.ts';
import { hasRun } from './what-ran.ts';

/** How a report is written for people. */
export interface TerminalOptions {
  style: ApplyStyle;
  /** Characters a line. */
  width: number;
}

/** The colour of a verdict. */
export const verdictStyles: Record<LoadVerdict, Style> = {
  PASS: 'green',
  FAIL: 'red',
  'NOT PROVEN': 'yellow',
  'INVALID RUN': 'yellow',
  'NOT TESTED': 'dim',
};

/** The report for people: every target with its bound, the generator's own health, then the verdict. */
export function terminalReport(given: LoadReport, options: TerminalOptions): string {
  const report = showable(given);
  const blocks = [
    ...gateBlock(report, options),
    ...targetsBlock(report, options),
    ...streamBlocks(report, options),
    ...voiceBlock(report, options),
    ...outageBlock(report, options),
    ...findMaxBlock(report, options),
    ...comparisonBlock(report, options),
    ...selfCheckBlock(report, options),
    ...notesBlock(report, options),
    verdictBlock(report, options),
  ];
  return `${blocks.join('\n\n')}\n`;
}

function gateBlock(
  { blockedBy, aborted }: LoadReport,
  { style, width }: TerminalOptions,
): string[] {
  const lines = [
    ...(blockedBy ? wrap(blockedBy.message, width).map((line) => style('red', line)) : []),
    ...(blockedBy ? wrap(blockedBy.cure, width) : []),
    ...(aborted === undefined ? [] : wrap(aborted, width).map((line) => style('red', line))),
  ];
  return lines.length === 0 ? [] : [lines.join('\n')];
}

const WORD_WIDTH = 11;
const INDENT = ' '.repeat(WORD_WIDTH + 2);

function targetsBlock(report: LoadReport, { style, width }: TerminalOptions): string[] {
  const { targets } = report;
  if (!hasRun(report)) return [];
  const lines = targets.flatMap((target) => {
    const color = verdictStyles[target.verdict];
    const word = style(color, target.verdict.padEnd(WORD_WIDTH));
    const room = width - WORD_WIDTH - 2;
    const [statement = '', ...more] = wrap(target.statement, room);
    const why = wrap(`${target.reason}${boundOf(target)}`, room);
    const dim = why.map((line) => style('dim', line));
    return [`${word}  ${statement}`, ...[...more, ...dim].map((line) => INDENT + line)];
  });
  return [lines.join('\n')];
}

/** "At 95 %: at least 99.94 %." */
function boundOf({ bound95, unit, id }: LoadTarget): string {
  // Of connections it is the count that was seen.
  if (bound95 === null || unit === 'connections') return '';
  const side = id.endsWith('latency') ? 'at most' : 'at least';
  return ` At 95 %: ${side} ${amount(bound95, unit)}.`;
}

/** A figure with its unit. */
export function amount(value: number, unit: string): string {
  return unit === 'ms' ? seconds(value) : `${trimmed(value, unit === '%' ? 3 : 2)} ${unit}`;
}

function streamBlocks(report: LoadReport, options: TerminalOptions): string[] {
  return report.streams.flatMap((name) => {
    const stream = report[name];
    return stream ? [streamBlock(name, stream, options)] : [];
  });
}

function streamBlock(name: string, stream: StreamReport, options: TerminalOptions): string {
  const { style, width } = options;
  const { errors } = stream;
  const head = amountsOf(name, stream);
  const columns = ['p50', 'p90', 'p99', 'max', 'mean'] as const;
  const times = (title: string, summary: StreamReport['latencyMs']): string =>
    `  ${title.padEnd(24)}${columns.map((column) => short(summary[column]).padStart(9)).join('')}`;
  return [
    `${style('bold', name)}  ${head}`,
    style('dim', `  ${''.padEnd(24)}${columns.map((column) => column.padStart(9)).join('')}`),
    times('from the intended start', stream.latencyMs),
    times('service', stream.serviceMs),
    times("the generator's lag", stream.lagMs),
    ...Object.entries(errors).flatMap(([kind, times]) => {
      const words = `${kind}: ${faultWords[kind as keyof typeof faultWords]}`;
      return hanging(`  ${style('red', grouped(times).padStart(7))}  `, 11, words, width);
    }),
  ].join('\n');
}

/** "6 000 due (100/s), 6 000 sent, 5 998 ok, 5 990 ok and in time". */
export function amountsOf(name: string, stream: StreamReport): string {
  const { offered, sent, ok, goodput, offeredPerSecond } = stream;
  const rate = `${grouped(offered)} due (${trimmed(offeredPerSecond, 2)}/s)`;
  // Nothing is asked of how long users take to be created.
  const inTime = name === 'users' ? '' : `, ${grouped(goodput)} ok and in time`;
  return `${rate}, ${grouped(sent)} sent, ${grouped(ok)} ok${inTime}`;
}

/** Text behind a head that takes `indent` columns, and below itself. */
function hanging(head: string, indent: number, text: string, width: number): string[] {
  const [first = '', ...more] = wrap(text, width - indent);
  return [head + first, ...more.map((line) => ' '.repeat(indent) + line)];
}

const short = (ms: number | null): string => (ms === null ? '-' : seconds(ms));

function outageBlock({ outages, chat }: LoadReport, { width }: TerminalOptions): string[] {
  if (!outages || outages.incidents === 0) return [];
  const { incidents, longestMs, cleanSeconds, seconds: all } = outages;
  const many = `${grouped(incidents)} run${incidents === 1 ? '' : 's'} of failures`;
  const line = `${many}, the longest for ${seconds(longestMs)}; ${cleanSeconds} of ${all} seconds were clean`;
  const found = Object.entries(chat?.findings ?? {}).map(([id, times]) => `${id} ${times}`);
  const unmet = found.length === 0 ? [] : [`requirements not met: ${found.join(', ')}`];
  return [[line, ...unmet].flatMap((text) => wrap(text, width)).join('\n')];
}

function findMaxBlock({ findMax }: LoadReport, { style, width }: TerminalOptions): string[] {
  if (!findMax) return [];
  const steps = findMax.steps.flatMap(({ ratePerSecond, holds, reason }) => {
    const word = holds ? style('green', 'holds') : style('red', 'fails');
    return hanging(`  ${trimmed(ratePerSecond, 1).padStart(8)}/s  ${word}  `, 21, reason, width);
  });
  return [
    [style('bold', 'The rate that is held'), ...steps, ...wrap(findMax.summary, width)].join('\n'),
  ];
}

function comparisonBlock(report: LoadReport, { style, width }: TerminalOptions): string[] {
  const { comparison } = report;
  if (!comparison) return [];
  const rows = comparison.rows.map(({ id, unit, before, now, change }) => {
    const figure = (value: number | null): string =>
      (value === null ? '-' : amount(value, unit)).padStart(16);
    const color = change === 'worse' ? 'red' : change === 'better' ? 'green' : 'dim';
    return `  ${id.padEnd(18)}${figure(before)}${figure(now)}  ${style(color, change)}`;
  });
  const differ = comparison.differences
    .flatMap((difference) => wrap(difference, width - 2))
    .map((line) => style('yellow', `  ${line}`));
  const head = style('bold', `Against the run of ${instant(comparison.startedAt)}`);
  return [[head, ...rows, ...differ].join('\n')];
}

function selfCheckBlock({ selfCheck }: LoadReport, { style, width }: TerminalOptions): string[] {
  const { valid, reasons, figures: rows } = selfCheck;
  if (rows.length === 0) return [];
  const held = rows
    .map(({ name, value, unit }) => `${name} ${trimmed(value, 1)} ${unit}`.trim())
    .join(', ');
  const head = valid
    ? `${style('green', 'The generator kept up')}: `
    : `${style('yellow', 'The generator, or the run, is not to be trusted')}: `;
  const plain = wrap(`${valid ? 'The generator kept up: ' : ''}${held}`, width).join('\n');
  if (valid) return [plain.replace('The generator kept up: ', () => head)];
  return [[head.trimEnd(), ...reasons.flatMap((reason) => wrap(reason, width)), plain].join('\n')];
}

function notesBlock({ notes }: LoadReport, { style, width }: TerminalOptions): string[] {
  if (notes.length === 0) return [];
  const lines = notes.flatMap((note) => wrap(`- ${note}`, width));
  return [[style('bold', 'To know besides'), ...lines].join('\n')];
}

function verdictBlock({ verdict, sentence }: LoadReport, options: TerminalOptions): string {
  const { style, width } = options;
  const [first = '', ...more] = wrap(`${verdict}  ${sentence}`, width);
  const styled = style(verdictStyles[verdict], style('bold', verdict));
  return [first.replace(verdict, () => styled), ...more].join('\n');
}
