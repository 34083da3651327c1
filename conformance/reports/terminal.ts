import type { CheckReport, RequirementVerdict, Verdict } from '../../src/contract/index.ts';
import { wrap, type Paint, type Style } from '../../src/shared/paint.ts';

/** How a report is written for people. */
export interface TerminalOptions {
  paint: Paint;
  /** Characters a line; only lines to be copied whole are longer. */
  width: number;
  /** Milliseconds that the run took; left out of the text when undefined. */
  tookMs?: number;
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

const headings: Record<CheckReport['verdict'], readonly [Style, string]> = {
  conforming: ['green', 'CONFORMING'],
  'not-conforming': ['red', 'NOT CONFORMING'],
  'not-judged': ['yellow', 'NOT JUDGED'],
};

/** The report for people: what fails first and in full, then what is only worth knowing. */
export function terminalReport(report: CheckReport, options: TerminalOptions): string {
  const blocks = [
    ...gateBlock(report, options),
    ...findingBlocks(report, options, ['error', 'fail', 'warn']),
    ...causesBlock(report, options),
    ...notesBlock(report, options),
    ...unjudgedBlock(report, options),
    ...dialectBlock(report, options),
    verdictBlock(report, options),
  ];
  return `${blocks.join('\n\n')}\n`;
}

function gateBlock({ gate }: CheckReport, { paint, width }: TerminalOptions): string[] {
  if (!gate) return [];
  return [[paint('red', gate.says), ...wrap(gate.cure, width)].join('\n')];
}

function findingBlocks(
  { requirements }: CheckReport,
  options: TerminalOptions,
  verdicts: readonly Verdict[],
): string[] {
  return verdicts.flatMap((verdict) =>
    requirements.filter((one) => one.verdict === verdict).map((one) => finding(one, options)),
  );
}

/** One requirement that is not met, with all that is needed to see why. */
function finding(one: RequirementVerdict, { paint, width }: TerminalOptions): string {
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
  const [says = '', ...more] = wrap(`${one.says} (spec ${one.section})`, width - 6);
  return [
    `${paint(styles[one.verdict], label)} ${paint('bold', one.id)}`,
    ...[says, ...more].map((line) => `      ${line}`),
    ...rows.flatMap(([name, text]) => (text === undefined ? [] : field(name, text, width, paint))),
    // Stands alone and unbroken, so that it can be copied.
    ...(one.curl === undefined ? [] : [`      ${paint('dim', one.curl)}`]),
  ].join('\n');
}

function field(name: string, text: string, width: number, paint: Paint): string[] {
  const [first = '', ...more] = wrap(text, width - 16);
  return [
    `      ${paint('dim', name.padEnd(9))} ${first}`,
    ...more.map((line) => `${' '.repeat(16)}${line}`),
  ];
}

function causesBlock({ causes, counts }: CheckReport, { paint, width }: TerminalOptions): string[] {
  if (causes.length === 0) return [];
  const failures = (counts['fail'] ?? 0) + (counts['blocked'] ?? 0);
  const lines = causes.flatMap(({ says, clears }) => {
    const [first = '', ...more] = wrap(
      `${says}: ${clears.length} of ${failures} clear (tried on the recording): ${clears.join(', ')}`,
      width - 4,
    );
    return [`  - ${first}`, ...more.map((line) => `    ${line}`)];
  });
  return [[paint('bold', 'What to mend first'), ...lines].join('\n')];
}

function notesBlock({ requirements }: CheckReport, { paint, width }: TerminalOptions): string[] {
  const notes = requirements.filter(({ verdict }) => verdict === 'note');
  if (notes.length === 0) return [];
  const lines = notes.flatMap(({ id, says, received }) =>
    hanging(`${id}  `, `${says} Here: ${received ?? ''}.`, width),
  );
  return [[paint('bold', 'Noted, not judged'), ...lines].join('\n')];
}

function hanging(head: string, text: string, width: number): string[] {
  const [first = '', ...more] = wrap(text, width - head.length - 2);
  return [`  ${head}${first}`, ...more.map((line) => `  ${' '.repeat(head.length)}${line}`)];
}

/** What got no verdict, by reason: many requirements share one. */
function unjudgedBlock({ requirements, gate }: CheckReport, options: TerminalOptions): string[] {
  if (gate) return [];
  const { paint, width } = options;
  const byReason = new Map<string, string[]>();
  for (const { id, verdict, reason = '' } of requirements) {
    if (!['blocked', 'not_applicable', 'not_observed'].includes(verdict)) continue;
    const key = `${verdict.replace('_', ' ')}: ${reason}`;
    byReason.set(key, [...(byReason.get(key) ?? []), id]);
  }
  if (byReason.size === 0) return [];
  const lines = [...byReason].flatMap(([reason, ids]) => {
    const [first = '', ...more] = wrap(`${reason} ${shortList(ids)}`, width - 2);
    return [first, ...more.map((line) => `  ${line}`)].map((line) => `  ${line}`.trimEnd());
  });
  return [[paint('bold', 'Without a verdict'), ...lines].join('\n')];
}

/** "CHAT-040 041 042": the area once. */
function shortList(ids: string[]): string {
  let last = '';
  const words = ids.map((id) => {
    const [area = '', number = ''] = id.split('-');
    const word = area === last ? number : id;
    last = area;
    return word;
  });
  return `[${words.join(' ')}]`;
}

function dialectBlock({ dialect }: CheckReport, { paint }: TerminalOptions): string[] {
  const entries = Object.entries(dialect);
  if (entries.length === 0) return [];
  const wide = Math.max(...entries.map(([name]) => name.length));
  const lines = entries.map(([name, value]) => `  ${name.padEnd(wide)}  ${value}`);
  return [[paint('bold', 'Its dialect, where the specification is silent'), ...lines].join('\n')];
}

function verdictBlock(report: CheckReport, { paint, tookMs }: TerminalOptions): string {
  const [style, heading] = headings[report.verdict];
  const counts = (Object.entries(report.counts) as [Verdict, number][])
    .filter(([, count]) => count > 0)
    .map(([verdict, count]) => paint(styles[verdict], `${count} ${verdict.replace('_', ' ')}`));
  const took = tookMs === undefined ? [] : [`${(tookMs / 1000).toFixed(1)} s`];
  return [
    ...report.waived.map((waiver) => paint('yellow', waiver)),
    `${paint(style, paint('bold', heading))}  ${[...counts, ...took].join(', ')}`,
  ].join('\n');
}
