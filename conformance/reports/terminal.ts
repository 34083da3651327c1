import type { CheckReport, RequirementVerdict, Verdict } from '../../src/contract/index.ts';
import type { ApplyStyle, Style } from '../../src/report-kit/terminal.ts';
import { comparisonBlock } from './comparison.ts';
import { headlineOf, staleSentence, type Headline } from './headline.ts';
import { fold, hanging, shortList, showable, unbroken } from './layout.ts';
import { callsBlock } from './terminal-calls.ts';
import { summaryBlock } from './terminal-summary.ts';

/** How a report is written for people. */
export interface TerminalOptions {
  style: ApplyStyle;
  /** Characters a line; only lines to be copied whole are longer. */
  width: number;
  /** Milliseconds that the run took; left out of the text when undefined. */
  tookMs?: number;
  /** Tells every note, every reason for no verdict and the whole dialect, where a line will do. */
  verbose?: boolean;
}

const styles: Record<Verdict, Style> = {
  pass: 'green',
  fail: 'red',
  warn: 'yellow',
  note: 'cyan',
  not_applicable: 'dim',
  not_observed: 'dim',
  not_selected: 'dim',
  blocked: 'yellow',
  error: 'red',
};

const headings: Record<Headline, readonly [Style, string]> = {
  conforming: ['green', 'CONFORMING'],
  'not-conforming': ['red', 'NOT CONFORMING'],
  'not-judged': ['yellow', 'NOT JUDGED'],
  'baseline-stale': ['red', 'BASELINE IS STALE'],
};

/** The report for people: what fails first and in full, then what is only worth knowing, in short. */
export function terminalReport(given: CheckReport, options: TerminalOptions): string {
  const report = showable(given);
  const blocks = [
    ...gateBlock(report, options),
    ...findingBlocks(report, options, ['error', 'fail', 'warn']),
    ...causesBlock(report, options),
    ...acceptedBlock(report, options),
    ...(options.verbose ? notesBlock(report, options) : []),
    ...unjudgedBlock(report, options),
    ...callsBlock(report, options),
    ...(options.verbose ? dialectBlock(report, options) : summaryBlock(report, options)),
    ...comparisonBlock(report, options),
    verdictBlock(report, options),
  ];
  return `${blocks.join('\n\n')}\n`;
}

function gateBlock({ blockedBy }: CheckReport, { style, width }: TerminalOptions): string[] {
  if (!blockedBy) return [];
  const says = fold(blockedBy.message, width).map((line) => style('red', line));
  return [[...says, ...fold(blockedBy.cure, width)].join('\n')];
}

function findingBlocks(
  { requirements }: CheckReport,
  options: TerminalOptions,
  verdicts: readonly Verdict[],
): string[] {
  return verdicts.flatMap((verdict) =>
    requirements
      .filter((one) => one.verdict === verdict && one.accepted === undefined)
      .map((one) => finding(one, options)),
  );
}

/** One requirement that is not met, with all that is needed to see why. */
function finding(one: RequirementVerdict, { style, width }: TerminalOptions): string {
  const [first] = one.evidence;
  const many = one.findings ?? 0;
  const where = first && `${first.exchange} "${first.step}": ${first.request} -> ${first.outcome}`;
  const rows: [string, string | undefined][] = [
    ['reason', one.reason],
    ['at', one.pointer === '' ? undefined : one.pointer],
    ['expected', one.expected],
    ['received', one.received],
    ['exchange', many > 1 && where ? `${where} (and ${many - 1} more)` : where],
    ['hint', one.hint],
  ];
  const label = one.verdict.toUpperCase().padEnd(5);
  return [
    `${style(styles[one.verdict], label)} ${style('bold', one.id)}`,
    ...hanging(' '.repeat(6), `${one.rule} (spec ${one.section})`, width),
    ...rows.flatMap(([name, text]) => (text === undefined ? [] : field(name, text, width, style))),
    // Stands alone and unbroken, so that it can be copied.
    ...(one.curl === undefined ? [] : [`      ${style('dim', one.curl)}`]),
  ].join('\n');
}

function field(name: string, text: string, width: number, style: ApplyStyle): string[] {
  const [first = '', ...more] = fold(text, width - 16);
  return [
    `      ${style('dim', name.padEnd(9))} ${first}`,
    ...more.map((line) => `${' '.repeat(16)}${line}`),
  ];
}

function causesBlock(report: CheckReport, { style, width }: TerminalOptions): string[] {
  const causes = openCauses(report);
  const { counts } = report;
  if (causes.length === 0) return [];
  const { fail = 0, blocked = 0 } = counts;
  const lines = causes.flatMap(({ description, clears }) => {
    const share = `${clears.length} of ${fail + blocked} failed or blocked`;
    return hanging(
      '  - ',
      `${description}. Tried on the recording: clears ${share}: ${clears.join(', ')}`,
      width,
    );
  });
  return [[style('bold', 'What to mend first'), ...lines].join('\n')];
}

/** The causes of what is not accepted. */
export function openCauses({ causes, requirements }: CheckReport): CheckReport['causes'] {
  const accepted = requirements.filter((one) => one.accepted !== undefined).map(({ id }) => id);
  return causes.filter(({ clears }) => clears.some((id) => !accepted.includes(id)));
}

function acceptedBlock({ requirements }: CheckReport, { style, width }: TerminalOptions): string[] {
  const lines = requirements.flatMap(({ id, verdict, accepted }) =>
    accepted === undefined ? [] : hanging(`  ${id}  `, `${verdict}: ${accepted}`, width),
  );
  return lines.length === 0
    ? []
    : [[style('bold', 'Accepted by the baseline'), ...lines].join('\n')];
}

function notesBlock({ requirements }: CheckReport, { style, width }: TerminalOptions): string[] {
  const notes = requirements.filter(({ verdict }) => verdict === 'note');
  if (notes.length === 0) return [];
  const lines = notes.flatMap(({ id, rule, received }) =>
    hanging(`  ${id}  `, `${rule} Here: ${received ?? 'seen'}.`, width),
  );
  return [[style('bold', 'Noted, not judged'), ...lines].join('\n')];
}

/** What got no verdict, by reason: many requirements share one. In short what is blocked alone. */
function unjudgedBlock(
  { requirements, blockedBy }: CheckReport,
  options: TerminalOptions,
): string[] {
  if (blockedBy) return [];
  const { style, width, verbose = false } = options;
  const told = verbose ? ['blocked', 'not_applicable', 'not_observed'] : ['blocked'];
  const byReason = new Map<string, string[]>();
  for (const { id, verdict, accepted, reason = '' } of requirements) {
    if (accepted !== undefined || !told.includes(verdict)) continue;
    const key = `${verdict.replace('_', ' ')}: ${reason}`;
    byReason.set(key, [...(byReason.get(key) ?? []), id]);
  }
  if (byReason.size === 0) return [];
  const lines = [...byReason].flatMap(([reason, ids]) => {
    const [first = '', ...more] = fold(`${reason} [${shortList(ids)}]`, width - 4);
    return [`  ${first}`, ...more.map((line) => `    ${line}`)];
  });
  return [[style('bold', 'Without a verdict'), ...lines].join('\n')];
}

function dialectBlock(
  { observedBehavior }: CheckReport,
  { style, width }: TerminalOptions,
): string[] {
  const entries = Object.entries(observedBehavior);
  if (entries.length === 0) return [];
  const wide = Math.max(...entries.map(([name]) => name.length));
  const lines = entries.flatMap(([name, value]) =>
    hanging(`  ${name.padEnd(wide)}  `, value, width),
  );
  return [[style('bold', 'Its dialect, where the specification is silent'), ...lines].join('\n')];
}

function verdictBlock(report: CheckReport, { style, width, tookMs }: TerminalOptions): string {
  const headline = headlineOf(report);
  const [color, heading] = headings[headline];
  const { staleKnownFailures: stale = [], notices = [], waived } = report;
  const words = [
    ...(headline === 'baseline-stale' ? [`${stale.length} of its entries met by now`] : []),
    ...countWords(report),
    ...(tookMs === undefined ? [] : [tookText(tookMs)]),
  ];
  const known = [...waived.map((waiver) => `waived: ${waiver}`), ...notices];
  const rows = [
    ...known.flatMap((text) => fold(text, width).map((row) => style('yellow', row))),
    ...(stale.length === 0 ? [] : fold(staleSentence(stale), width)).map((row) =>
      style('red', row),
    ),
  ];
  const tally = unbroken(words, (text) => hanging(`${heading}  `, text, width));
  const styled = tally.map((row) => styleCounts(row, style));
  styled[0] = (styled[0] ?? '').replace(heading, () => style(color, style('bold', heading)));
  return [...rows, ...styled].join('\n');
}

const tookText = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

/** "106 pass", "3 fail (2 accepted)". */
function countWords({ counts, requirements }: CheckReport): string[] {
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([verdict, count]) => {
      const rows = requirements.filter((one) => one.verdict === verdict && one.accepted);
      const accepted = rows.length === 0 ? '' : ` (${rows.length} accepted)`;
      return `${count} ${verdict.replace('_', ' ')}${accepted}`;
    });
}

/** Styles each count that stands whole in a row in the style of its verdict. */
function styleCounts(row: string, style: ApplyStyle): string {
  return row.replaceAll(/\d+ ([a-z]+(?: [a-z]+)?)/g, (words, name: string) => {
    const color = Object.entries(styles).find(([verdict]) => verdict === name.replace(' ', '_'));
    return color ? style(color[1], words) : words;
  });
}
