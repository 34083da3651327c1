import type {
  CheckReport,
  EvidenceItem,
  RequirementVerdict,
  Verdict,
} from '../../src/contract/index.ts';
import {
  formatCount,
  formatDuration,
  formatList,
  formatNumber,
} from '../../src/report-kit/format.ts';
import { toPrintable } from '../../src/report-kit/printable.ts';
import {
  hangingIndent,
  labeled,
  wrapBreakingWords,
  wrapList,
  type Style,
  type TextLayout,
} from '../../src/report-kit/terminal.ts';
import {
  countVerdicts,
  describeShare,
  findRepeatedCommands,
  foldedFailures,
  headlineOf,
  headlines,
  isClientReport,
  openCauses,
  sectionTitles,
  shortList,
  staleSentence,
  verdictName,
  type Headline,
} from './summary.ts';
import { comparisonLines } from './comparison.ts';
import {
  describeMissingFile,
  listSuspectCommands,
  resendCommandOf,
  type ResendFile,
} from './resend-commands.ts';
import { callLines } from './terminal-calls.ts';

/** How the report is laid out. */
export interface TerminalOptions extends TextLayout {
  /** Duration of the run in milliseconds; omitted from the text when undefined. */
  tookMs?: number;
  /** Lists every failure, all notes, all reasons for missing verdicts, and all observed behavior. */
  verbose?: boolean;
  /** The file that the commands of `resend` name. */
  resendFile?: ResendFile;
}

const verdictStyles: Record<Verdict, Style> = {
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

const headlineStyles: Record<Headline, Style> = {
  conforming: 'green',
  'not-conforming': 'red',
  'not-judged': 'yellow',
  'stale-known-failures': 'red',
};

/**
 * Lays out the report for people: causes first, then the failures that no cause explains in full, a
 * summary of the rest, and the verdict last.
 */
export function terminalReport(original: CheckReport, options: TerminalOptions): string {
  const report = toPrintable(original);
  const blocks = [
    blockingLines(report, options),
    suspectLines(report, options),
    causeLines(report, options),
    ...findingBlocks(report, options),
    knownFailureLines(report, options),
    options.verbose ? noteLines(report, options) : [],
    unjudgedLines(report, options),
    callLines(report, options),
    options.verbose ? observedLines(report, options) : summaryLines(report, options),
    missingFileLines(report, options),
    comparisonLines(report, options),
    verdictLines(report, options),
  ].filter((lines) => lines.length > 0);
  return `${blocks.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function blockingLines({ blockedBy }: CheckReport, { style, width }: TextLayout): string[] {
  if (!blockedBy) return [];
  const traceId = blockedBy.evidence[0]?.traceId;
  const message = wrapBreakingWords(blockedBy.message, width).map((line) => style('red', line));
  const trace = traceId === undefined ? [] : [style('dim', `Trace id ${traceId}`)];
  return [...message, ...wrapBreakingWords(blockedBy.cure, width), ...trace];
}

/** Lists the commands by which the cause of a crash is found. They are unbroken, so that they can be copied. */
function suspectLines(report: CheckReport, { width, resendFile }: TerminalOptions): string[] {
  return listSuspectCommands(report, resendFile).flatMap(({ sentence, commands }) => [
    ...wrapBreakingWords(sentence, width),
    ...commands.map((command) => `  ${command}`),
  ]);
}

function findingBlocks(report: CheckReport, layout: TerminalOptions): string[][] {
  const folded = layout.verbose ? [] : foldedFailures(report);
  const rows = (['error', 'fail', 'warn'] as const).flatMap((verdict) =>
    report.requirements.filter(
      (row) => row.verdict === verdict && row.accepted === undefined && !folded.includes(row),
    ),
  );
  const repeated = findRepeatedCommands(rows);
  return rows.map((row) => {
    const firstId = repeated.get(row.id);
    if (firstId === undefined) {
      const command = resendCommandOf(row.evidence, report, layout.resendFile);
      return findingLines({ ...row, command }, layout);
    }
    return findingLines({ ...row, curl: `the same request as ${firstId}` }, layout);
  });
}

/** Describes a requirement that is not met, with its evidence. */
function findingLines(
  row: RequirementVerdict & { command?: string | undefined },
  { style, width }: TextLayout,
): string[] {
  const [first] = row.evidence;
  const count = row.findings ?? 0;
  const where = first && describeExchange(first);
  const fields: [string, string | undefined][] = [
    ['reason', row.reason],
    ['at', row.pointer === '' ? undefined : row.pointer],
    ['expected', row.expected],
    ['received', row.received],
    ['exchange', count > 1 && where ? `${where} (and ${formatNumber(count - 1)} more)` : where],
    ['trace id', first?.traceId],
    ['hint', row.hint],
  ];
  const label = row.verdict.toUpperCase().padEnd(5);
  return [
    `${style(verdictStyles[row.verdict], label)} ${style('bold', row.id)}`,
    ...labeled(' '.repeat(6), `${row.rule} (spec ${row.section})`, width),
    ...fields.flatMap(([name, text]) =>
      text === undefined ? [] : labeled(`      ${style('dim', name.padEnd(9))} `, text, width),
    ),
    // Unbroken lines, so that they can be copied.
    ...[row.curl, row.command].flatMap((line) =>
      line === undefined ? [] : [`      ${style('dim', line)}`],
    ),
  ];
}

/** Lists the causes. A cause that replaces several failures also shows the first of them. */
function causeLines(
  report: CheckReport,
  { style, width, verbose, resendFile }: TerminalOptions,
): string[] {
  const causes = openCauses(report);
  if (causes.length === 0) return [];
  const folded = verbose ? [] : foldedFailures(report);
  const lines = causes.flatMap((cause, nth) => {
    const share = describeShare(cause, nth, report);
    const example = folded.find(({ id }) => cause.clears.includes(id));
    return [
      ...labeled('  - ', `${cause.description}. This ${share}: ${shortList(cause.clears)}.`, width),
      ...(example
        ? exampleLines(example, {
            style,
            width,
            command: resendCommandOf(example.evidence, report, resendFile),
          })
        : []),
    ];
  });
  return [style('bold', sectionTitles.causes), ...lines];
}

/** Shows how to see one failure: the exchange and the command that repeats its request. */
function exampleLines(
  { id, evidence: [first], curl }: RequirementVerdict,
  { style, width, command }: TextLayout & { command: string | undefined },
): string[] {
  const exchange = first ? `, exchange ${describeExchange(first)}` : '';
  const trace = first?.traceId === undefined ? '' : `, trace id ${first.traceId}`;
  return [
    ...labeled('    ', `Example: ${id}${exchange}${trace}`, width),
    // Unbroken lines, so that they can be copied.
    ...[curl, command].flatMap((line) => (line === undefined ? [] : [`    ${style('dim', line)}`])),
  ];
}

const describeExchange = ({ exchange, step, request, outcome }: EvidenceItem): string =>
  `${exchange} "${step}": ${request} -> ${outcome}`;

function knownFailureLines({ requirements }: CheckReport, layout: TextLayout): string[] {
  const { style, width } = layout;
  const lines = requirements.flatMap(({ id, verdict, accepted }) =>
    accepted === undefined ? [] : labeled(`  ${id}  `, `${verdict}: ${accepted}`, width),
  );
  return lines.length === 0 ? [] : [style('bold', sectionTitles.knownFailures), ...lines];
}

function noteLines({ requirements }: CheckReport, { style, width }: TextLayout): string[] {
  const notes = requirements.filter(({ verdict }) => verdict === 'note');
  if (notes.length === 0) return [];
  const lines = notes.flatMap(({ id, rule, received }) =>
    labeled(`  ${id}  `, `${rule} Observed: ${received ?? 'seen'}.`, width),
  );
  return [style('bold', 'Notes (not judged)'), ...lines];
}

/** Groups requirements without a verdict by reason; only blocked ones unless the report is verbose. */
function unjudgedLines(
  { requirements, blockedBy }: CheckReport,
  { style, width, verbose = false }: TerminalOptions,
): string[] {
  if (blockedBy) return [];
  const listed = verbose ? ['blocked', 'not_applicable', 'not_observed'] : ['blocked'];
  const unjudged = requirements.filter(
    ({ verdict, accepted }) => accepted === undefined && listed.includes(verdict),
  );
  if (unjudged.length === 0) return [];
  const byReason = Map.groupBy(
    unjudged,
    ({ verdict, reason = '' }) => `${verdictName(verdict)}: ${reason}`,
  );
  const lines = [...byReason].flatMap(([reason, rows]) => {
    const text = `${reason} [${shortList(rows.map(({ id }) => id))}]`;
    const [first = '', ...more] = wrapBreakingWords(text, width - 4);
    return [`  ${first}`, ...more.map((line) => `    ${line}`)];
  });
  return [style('bold', 'Without a verdict'), ...lines];
}

function observedLines({ observedBehavior }: CheckReport, { style, width }: TextLayout): string[] {
  const entries = Object.entries(observedBehavior);
  if (entries.length === 0) return [];
  const nameWidth = Math.max(...entries.map(([name]) => name.length));
  const lines = entries.flatMap(([name, value]) =>
    labeled(`  ${name.padEnd(nameWidth)}  `, value, width),
  );
  return [style('bold', `${sectionTitles.observed} where the specification is silent`), ...lines];
}

function missingFileLines(report: CheckReport, { resendFile, width }: TerminalOptions): string[] {
  const hint = describeMissingFile(report, resendFile);
  return hint === undefined ? [] : wrapBreakingWords(hint, width);
}

/** Entries of the observed behavior in the short report: enough to recognize the sandbox. */
const OBSERVED_MAX = 4;

/** Summarizes notes and observed behavior, and says what --verbose adds. */
function summaryLines(report: CheckReport, { style, width }: TextLayout): string[] {
  const { requirements, blockedBy, observedBehavior } = report;
  const notes = requirements.filter(({ verdict }) => verdict === 'note').map(({ id }) => id);
  const observed = Object.entries(observedBehavior).map(([name, value]) => `${name} ${value}`);
  const unjudged = blockedBy
    ? 0
    : requirements.filter(({ verdict }) => /^not_(applicable|observed)$/.test(verdict)).length;
  const folded = foldedFailures(report).length;
  if (notes.length + observed.length + unjudged + folded === 0) return [];
  const rest = observed.length - OBSERVED_MAX;
  const label = (name: string): string => `${style('bold', name)}${' '.repeat(10 - name.length)}`;
  const details = [
    ...(folded === 0 ? [] : [`each of the ${folded} failures with a common cause`]),
    ...(notes.length === 0 ? [] : ['the notes']),
    ...(unjudged === 0 ? [] : [`why ${formatCount(unjudged, 'requirement')} got no verdict`]),
    ...(observed.length === 0 ? [] : ['all observed behavior']),
  ];
  const shown = [...observed.slice(0, OBSERVED_MAX), ...(rest > 0 ? [`${rest} more`] : [])];
  return [
    ...(notes.length === 0 ? [] : labeled(label('Notes'), shortList(notes), width)),
    ...(observed.length === 0 ? [] : hangingIndent(label('Observed'), wrapList(shown, width - 10))),
    ...labeled(label('More'), `--verbose shows ${formatList(details)}.`, width),
  ];
}

function verdictLines(report: CheckReport, { style, width, tookMs }: TerminalOptions): string[] {
  const headline = headlineOf(report);
  const heading = headlines[headline].toUpperCase();
  const { staleKnownFailures: stale = [], notices = [], waived } = report;
  const remarks = [...waived.map((waiver) => `Waived: ${waiver}.`), ...notices];
  const counts = [
    ...countVerdicts(report).map(([verdict, text]) =>
      style(verdictStyles[verdict as Verdict], text),
    ),
    ...(tookMs === undefined ? [] : [formatDuration(tookMs)]),
  ];
  const remarkLines = remarks
    .flatMap((text) => wrapBreakingWords(text, width))
    .map((line) => style('yellow', line));
  const staleLines = (stale.length === 0 ? [] : wrapBreakingWords(staleSentence(stale), width)).map(
    (line) => style('red', line),
  );
  const verdictLine = hangingIndent(
    `${style(headlineStyles[headline], style('bold', heading))}  `,
    wrapList(counts, width - heading.length - 2),
  );
  // The remarks about a client advise what else to let the kit see.
  return isClientReport(report)
    ? [...staleLines, ...verdictLine, ...remarkLines]
    : [...remarkLines, ...staleLines, ...verdictLine];
}
