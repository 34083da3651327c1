import type { CheckReport, RequirementVerdict } from '../../src/contract/index.ts';
import { formatNumber } from '../../src/report-kit/format.ts';
import {
  escapeMarkdown,
  markdownBlock,
  markdownCode,
  markdownLink,
  markdownTable,
} from '../../src/report-kit/markdown.ts';
import { toPrintable } from '../../src/report-kit/printable.ts';
import { changeNames, comparisonHeading } from './comparison.ts';
import {
  commandOf,
  countVerdicts,
  describeShare,
  describeSuite,
  headlineOf,
  headlines,
  isClientReport,
  openCauses,
  sectionTitles,
  staleSentence,
} from './summary.ts';

/** Writes the report as Markdown for the summary of a CI step: the verdict, then what to fix. */
export function markdownReport(original: CheckReport): string {
  const report = toPrintable(original);
  const { notices = [], staleKnownFailures: stale = [], blockedBy, requirements } = report;
  const withVerdict = (verdict: string): RequirementVerdict[] =>
    requirements.filter((row) => row.verdict === verdict && row.accepted === undefined);
  const seed = isClientReport(report) ? '' : `, seed ${escapeMarkdown(report.seed)}`;
  const counts = countVerdicts(report).map(([, text]) => text);
  const lines = [
    `## ${commandOf(report)}: ${headlines[headlineOf(report)].toLowerCase()}`,
    '',
    `${markdownLink(report.target)}, suite ${escapeMarkdown(describeSuite(report))}${seed}: ${counts.join(', ')}.`,
    ...report.waived.map((waiver) => `\n> Waived: ${escapeMarkdown(waiver)}.`),
    ...notices.map((notice) => `\n> ${escapeMarkdown(notice)}`),
    ...(stale.length === 0 ? [] : ['', `**${escapeMarkdown(staleSentence(stale))}**`]),
    ...(blockedBy
      ? ['', `**${escapeMarkdown(blockedBy.message)}** ${escapeMarkdown(blockedBy.cure)}`]
      : []),
    ...comparison(report),
    ...findings('Failures', [...withVerdict('error'), ...withVerdict('fail')]),
    ...causes(report),
    ...findings('Warnings', withVerdict('warn')),
    ...knownFailures(report),
    ...observedBehavior(report),
  ];
  return `${lines.join('\n')}\n`;
}

function comparison({ comparison: compared }: CheckReport): string[] {
  if (!compared) return [];
  const rows = changeNames.flatMap(([change, name]) => {
    const ids = compared[change];
    return ids.length === 0 ? [] : [[name, formatNumber(ids.length), ids.join(', ')]];
  });
  return section(comparisonHeading(compared), [
    ...compared.differences.map((difference) => `> ${escapeMarkdown(difference)}\n`),
    ...markdownTable(
      ['change', 'count', 'requirements'],
      [...rows, ['unchanged', formatNumber(compared.unchanged.length), '']],
    ),
  ]);
}

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ['', `### ${title}`, '', ...lines];

function findings(title: string, rows: readonly RequirementVerdict[]): string[] {
  const commands = new Set<string>();
  return section(
    title,
    rows.flatMap((row) => finding(row, commands)),
  );
}

/** The longest command to show. */
const CURL_LENGTH_MAX = 2_000;

/** Writes a requirement with what was expected, what to do, and the command that repeats it, once. */
function finding(row: RequirementVerdict, commands: Set<string>): string[] {
  const { id, rule, section: spec, pointer = '', expected, received, reason, hint, curl } = row;
  const traceId = row.evidence[0]?.traceId;
  const details = [
    ...(pointer === '' ? [] : [`at ${markdownCode(pointer)}`]),
    ...(expected === undefined ? [] : [`expected ${escapeMarkdown(expected)}`]),
    ...(received === undefined ? [] : [`received ${escapeMarkdown(received)}`]),
    ...(reason === undefined ? [] : [escapeMarkdown(reason)]),
    ...(hint === undefined ? [] : [`hint: ${escapeMarkdown(hint)}`]),
    ...(traceId === undefined ? [] : [`trace id ${markdownCode(traceId)}`]),
  ];
  const isNew = curl !== undefined && curl.length <= CURL_LENGTH_MAX && !commands.has(curl);
  if (isNew) commands.add(curl);
  return [
    `- **${id}** ${escapeMarkdown(rule)} (spec ${spec})`,
    ...details.map((detail) => `  - ${detail}`),
    ...(isNew ? ['', ...markdownBlock(curl, 'sh', 2)] : []),
  ];
}

function causes(report: CheckReport): string[] {
  const items = openCauses(report).map(
    (cause, nth) =>
      `- ${escapeMarkdown(cause.description)}. This ${describeShare(cause, nth, report)}: ${escapeMarkdown(cause.clears.join(', '))}.`,
  );
  return section(sectionTitles.causes, items);
}

function knownFailures({ requirements }: CheckReport): string[] {
  const rows = requirements.flatMap(({ id, verdict, accepted }) =>
    accepted === undefined ? [] : [[id, verdict, accepted]],
  );
  return section(
    sectionTitles.knownFailures,
    markdownTable(['requirement', 'verdict', 'comment'], rows),
  );
}

function observedBehavior({ observedBehavior: observed }: CheckReport): string[] {
  const table = markdownTable(['topic', 'observed'], Object.entries(observed));
  if (table.length === 0) return [];
  const summary = `${sectionTitles.observed} where the specification is silent`;
  return ['', `<details><summary>${summary}</summary>`, '', ...table, '', '</details>'];
}
