import type {
  CauseExample,
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
import { typeCommand, typeCommandsIn } from '../../src/report-kit/program-name.ts';
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
  messageBesides,
  openCauses,
  sectionTitles,
  shortList,
  staleSentence,
  triedRows,
  verdictName,
  type Headline,
} from './summary.ts';
import { comparisonLines } from './comparison.ts';
import { coverageOf, describeCoverage, describeUnjudged } from './coverage.ts';
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
    options.verbose ? triedLines(report, options) : [],
    options.verbose ? observedLines(report, options) : summaryLines(report, options),
    missingFileLines(report, options),
    comparisonLines(report, options),
    [...coverageLines(report, options), ...verdictLines(report, options)],
  ].filter((lines) => lines.length > 0);
  return `${blocks.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

function blockingLines(
  { blockedBy }: CheckReport,
  { style, width, program }: TextLayout,
): string[] {
  if (!blockedBy) return [];
  const traceId = blockedBy.evidence[0]?.traceId;
  const message = wrapBreakingWords(blockedBy.message, width).map((line) => style('red', line));
  const trace = traceId === undefined ? [] : [style('dim', `Trace id ${traceId}`)];
  return [
    ...message,
    ...wrapBreakingWords(typeCommandsIn(blockedBy.cure, program), width),
    ...trace,
  ];
}

/** Lists the commands that find the cause of a crash, unwrapped, so that they can be copied. */
function suspectLines(
  report: CheckReport,
  { width, resendFile, program }: TerminalOptions,
): string[] {
  return listSuspectCommands(report, resendFile, program).flatMap(({ sentence, commands }) => [
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
      const { resendFile, program } = layout;
      const command = resendCommandOf(row.evidence, report, resendFile, program);
      return findingLines({ ...row, command }, layout);
    }
    return findingLines({ ...row, curl: `the same request as ${firstId}` }, layout);
  });
}

/** Describes a requirement that is not met, with its evidence. */
function findingLines(
  row: RequirementVerdict & { command?: string | undefined },
  layout: TextLayout,
): string[] {
  const { style, width } = layout;
  const label = row.verdict.toUpperCase().padEnd(5);
  return [
    `${style(verdictStyles[row.verdict], label)} ${style('bold', row.id)}`,
    ...labeled(' '.repeat(6), `${row.rule} (spec ${row.section})`, width),
    ...detailLines({ ...row, exchange: row.evidence[0] }, layout, 6),
  ];
}

type Detail = Pick<
  RequirementVerdict,
  'reason' | 'pointer' | 'expected' | 'received' | 'message' | 'hint' | 'curl' | 'findings'
> & { example?: string; exchange: EvidenceItem | undefined; command?: string | undefined };

/** Lists what is known about a finding, and the command that shows it again. */
function detailLines(detail: Detail, layout: TextLayout, indent: number): string[] {
  const { style, width, program } = layout;
  const { exchange, findings: count = 0, curl, command } = detail;
  const where = exchange && describeExchange(exchange);
  const fields: [string, string | undefined][] = [
    ['example', detail.example],
    ['reason', detail.reason],
    ['at', detail.pointer === '' ? undefined : detail.pointer],
    ['expected', detail.expected],
    ['received', detail.received],
    ['message', messageBesides(detail)],
    ['exchange', count > 1 && where ? `${where} (and ${formatNumber(count - 1)} more)` : where],
    ['trace id', exchange?.traceId],
    ['hint', detail.hint],
  ];
  const margin = ' '.repeat(indent);
  return [
    ...fields.flatMap(([name, text]) =>
      text === undefined ? [] : labeled(`${margin}${style('dim', name.padEnd(9))} `, text, width),
    ),
    // Unbroken lines, so that they can be copied.
    ...[curl, command].flatMap((line) =>
      line === undefined ? [] : [`${margin}${style('dim', typeCommand(line, program))}`],
    ),
  ];
}

/** Lists the causes. A cause that replaces several failures also shows an example. */
function causeLines(report: CheckReport, layout: TerminalOptions): string[] {
  const causes = openCauses(report);
  if (causes.length === 0) return [];
  const folded = layout.verbose ? [] : foldedFailures(report);
  const lines = causes.flatMap((cause, nth) => {
    const { description, clears, example } = cause;
    const share = describeShare(cause, nth, report);
    const row = folded.find(({ id }) => id === example?.requirement);
    return [
      ...labeled('  - ', `${description}. This ${share}: ${shortList(clears)}.`, layout.width),
      ...(example && row
        ? exampleLines(example, row, {
            ...layout,
            command: resendCommandOf([example.exchange], report, layout.resendFile, layout.program),
          })
        : []),
    ];
  });
  return [layout.style('bold', sectionTitles.causes), ...lines];
}

/** Shows one of several failures that a cause explains. */
function exampleLines(
  example: CauseExample,
  { id, rule, findings }: RequirementVerdict,
  { command, ...layout }: TextLayout & { command: string | undefined },
): string[] {
  const shown = { ...example, command, ...(findings !== undefined && { findings }) };
  return detailLines({ ...shown, example: `${id} ${rule}` }, layout, 4);
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
    ({ verdict, reason = '', remedy }) =>
      `${verdictName(verdict)}: ${[reason, remedy].filter(Boolean).join(' ')}`,
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

function triedLines(report: CheckReport, { style, width }: TextLayout): string[] {
  const rows = triedRows(report);
  if (rows.length === 0) return [];
  const lines = rows.flatMap(([name, value]) => labeled('  ', `${name}: ${value}.`, width));
  return [style('bold', sectionTitles.tried), ...lines];
}

function missingFileLines(
  report: CheckReport,
  { resendFile, width, program }: TerminalOptions,
): string[] {
  const hint = describeMissingFile(report, resendFile, program);
  return hint === undefined ? [] : wrapBreakingWords(hint, width);
}

/** Entries of the observed behavior in the short report: enough to recognize the sandbox. */
const OBSERVED_MAX = 4;

/** Summarizes notes and observed behavior, and says what --verbose adds. */
function summaryLines(report: CheckReport, { style, width }: TextLayout): string[] {
  const { requirements, blockedBy, observedBehavior } = report;
  const notes = requirements.filter(({ verdict }) => verdict === 'note').map(({ id }) => id);
  const observed = Object.entries(observedBehavior).map(([name, value]) => `${name} ${value}`);
  const { judged, total } = coverageOf(requirements);
  // The same number as in the sentence about the coverage, which does not count what does not apply.
  const unjudged = blockedBy ? 0 : total - judged;
  const inapplicable = blockedBy
    ? 0
    : requirements.filter(({ verdict }) => verdict === 'not_applicable').length;
  const folded = foldedFailures(report).length;
  if (notes.length + observed.length + unjudged + inapplicable + folded === 0) return [];
  const rest = observed.length - OBSERVED_MAX;
  const label = (name: string): string => `${style('bold', name)}${' '.repeat(10 - name.length)}`;
  const details = [
    ...(folded === 0 ? [] : [`each of the ${folded} failures with a common cause`]),
    ...(notes.length === 0 ? [] : ['the notes']),
    ...(unjudged === 0
      ? []
      : [
          `why ${formatCount(unjudged, 'requirement')} ${unjudged === 1 ? 'was' : 'were'} not judged`,
        ]),
    ...(inapplicable === 0
      ? []
      : [`why ${inapplicable} ${inapplicable === 1 ? 'does' : 'do'} not apply`]),
    ...(observed.length === 0 ? [] : ['all observed behavior']),
  ];
  const shown = [...observed.slice(0, OBSERVED_MAX), ...(rest > 0 ? [`${rest} more`] : [])];
  return [
    ...(notes.length === 0 ? [] : labeled(label('Notes'), shortList(notes), width)),
    ...(observed.length === 0 ? [] : hangingIndent(label('Observed'), wrapList(shown, width - 10))),
    ...labeled(label('More'), `--verbose shows ${formatList(details)}.`, width),
  ];
}

/** Says what share was judged, and, for the reasons that a user can change, why the rest was not. */
function coverageLines(
  { coverage, blockedBy }: CheckReport,
  { style, width, verbose = false }: TerminalOptions,
): string[] {
  // A run that judged nothing says only why.
  if (!coverage || (blockedBy && coverage.judged === 0)) return [];
  const open =
    verbose || blockedBy ? [] : coverage.unjudged.filter(({ remedy }) => remedy !== undefined);
  const reasons = describeUnjudged({ ...coverage, unjudged: open });
  return [
    style('bold', describeCoverage(coverage)),
    ...reasons.flatMap(({ text, ids }) => labeled('  ', `${text} [${shortList(ids)}]`, width)),
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
