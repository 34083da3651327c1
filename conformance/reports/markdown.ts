import type { CheckReport, EvidenceItem, RequirementVerdict } from '../../src/contract/index.ts';
import { comparisonBlocks } from '../../src/report-kit/comparison.ts';
import { formatNumber } from '../../src/report-kit/format.ts';
import {
  line,
  markdownCode,
  markdownLink,
  renderMarkdown,
  type Block,
  type ListItem,
  type Markdown,
} from '../../src/report-kit/markdown.ts';
import { toPrintable } from '../../src/report-kit/printable.ts';
import { listChanges } from './comparison.ts';
import { describeCoverage } from './coverage.ts';
import {
  describeMissingFile,
  listSuspectCommands,
  resendCommandOf,
  type ResendFile,
} from './resend-commands.ts';
import {
  commandOf,
  countVerdicts,
  describeShare,
  describeSuite,
  findRepeatedCommands,
  headlineOf,
  headlines,
  isClientReport,
  messageBesides,
  openCauses,
  sectionTitles,
  staleSentence,
} from './summary.ts';

/** Writes the report as Markdown for the summary of a CI step: the verdict, then what to fix. */
export function markdownReport(
  original: CheckReport,
  resendFile?: ResendFile,
  program?: string,
): string {
  const report = toPrintable(original);
  const {
    notices = [],
    staleKnownFailures: stale = [],
    blockedBy,
    coverage,
    requirements,
  } = report;
  const withVerdict = (verdict: string): RequirementVerdict[] =>
    requirements.filter((row) => row.verdict === verdict && row.accepted === undefined);
  const findings = (title: string, rows: readonly RequirementVerdict[]): Block =>
    listFindings(title, rows, (row) => resendCommandOf(row.evidence, report, resendFile, program));
  const hint = describeMissingFile(report, resendFile, program);
  const seed = isClientReport(report) ? '' : `, seed ${report.seed}`;
  const counts = countVerdicts(report).map(([, text]) => text);
  return renderMarkdown(`${commandOf(report)}: ${headlines[headlineOf(report)].toLowerCase()}`, [
    line`${markdownLink(report.target)}, suite ${describeSuite(report)}${seed}: ${counts.join(', ')}.`,
    coverage !== undefined && line`${describeCoverage(coverage)}`,
    ...report.waived.map((waiver) => ({ quote: `Waived: ${waiver}.` })),
    ...notices.map((notice) => ({ quote: notice })),
    hint !== undefined && { quote: hint },
    stale.length > 0 && line`**${staleSentence(stale)}**`,
    blockedBy && line`**${blockedBy.message}** ${blockedBy.cure}`,
    ...listSuspectCommands(report, resendFile, program).map(({ sentence, commands }) => ({
      list: [{ text: sentence, command: commands.join('\n') }],
    })),
    ...changes(report),
    findings('Failures', [...withVerdict('error'), ...withVerdict('fail')]),
    { title: sectionTitles.causes, blocks: [{ list: describeCauses(report) }] },
    findings('Warnings', withVerdict('warn')),
    { title: sectionTitles.knownFailures, blocks: [knownFailures(report)] },
    unjudged(report),
    observedBehavior(report),
  ]);
}

function changes({ comparison }: CheckReport): Block[] {
  if (!comparison) return [];
  const rows = listChanges(comparison).map(({ name, ids }) => [
    ...[name, formatNumber(ids.length), ids.join(', ')],
  ]);
  const unchanged = ['unchanged', formatNumber(comparison.unchanged.length), ''];
  return comparisonBlocks(comparison, [
    { columns: ['change', 'count', 'requirements'], rows: [...rows, unchanged] },
  ]);
}

function listFindings(
  title: string,
  rows: readonly RequirementVerdict[],
  resendCommand: (row: RequirementVerdict) => string | undefined,
): Block {
  const repeated = findRepeatedCommands(rows);
  const list = rows.map((row) => finding(row, repeated.has(row.id), resendCommand(row)));
  return { title, blocks: [{ list }] };
}

/** Describes a requirement: what was expected, what to do, and the command that repeats it, once. */
function finding(
  row: RequirementVerdict,
  isRepeated: boolean,
  resendCommand: string | undefined,
): ListItem {
  const { id, rule, section, reason, curl = '' } = row;
  const isShown = curl !== '' && !isRepeated;
  return {
    text: line`**${id}** ${rule} (spec ${section})`,
    details: [
      ...(reason === undefined ? [] : [reason]),
      ...details({ ...row, exchange: row.evidence[0] }),
      ...(resendCommand === undefined ? [] : [line`resend: ${markdownCode(resendCommand)}`]),
    ],
    command: isShown ? curl : undefined,
  };
}

/** Lists what is known about a finding. */
function details({
  ...finding
}: Pick<RequirementVerdict, 'pointer' | 'expected' | 'received' | 'message' | 'hint'> & {
  exchange: EvidenceItem | undefined;
}): (string | Markdown)[] {
  const { pointer = '', expected, received, hint, exchange } = finding;
  const message = messageBesides(finding);
  const traceId = exchange?.traceId;
  return [
    ...(pointer === '' ? [] : [line`at ${markdownCode(pointer)}`]),
    ...(expected === undefined ? [] : [`expected ${expected}`]),
    ...(received === undefined ? [] : [`received ${received}`]),
    ...(message === undefined ? [] : [`message: ${message}`]),
    ...(hint === undefined ? [] : [`hint: ${hint}`]),
    ...(traceId === undefined ? [] : [line`trace id ${markdownCode(traceId)}`]),
  ];
}

const describeCauses = (report: CheckReport): ListItem[] =>
  openCauses(report).map((cause, nth) => {
    const { description, clears, example } = cause;
    const share = describeShare(cause, nth, report);
    return {
      text: `${description}. This ${share}: ${clears.join(', ')}.`,
      ...(example && { details: [`example: ${example.requirement}`, ...details(example)] }),
    };
  });

const knownFailures = ({ requirements }: CheckReport): Block => ({
  columns: ['requirement', 'verdict', 'comment'],
  rows: requirements.flatMap(({ id, verdict, accepted }) =>
    accepted === undefined ? [] : [[id, verdict, accepted]],
  ),
});

function unjudged({ coverage, blockedBy }: CheckReport): Block {
  if (!coverage || blockedBy || coverage.unjudged.length === 0) return false;
  const rows = coverage.unjudged.map(({ reason, remedy = '', requirements }) => [
    ...[formatNumber(requirements.length), reason, remedy, requirements.join(', ')],
  ]);
  return {
    summary: sectionTitles.unjudged,
    blocks: [{ columns: ['count', 'reason', 'what would change it', 'requirements'], rows }],
  };
}

function observedBehavior({ observedBehavior: observed }: CheckReport): Block {
  const rows = Object.entries(observed);
  return (
    rows.length > 0 && {
      summary: `${sectionTitles.observed} where the specification is silent`,
      blocks: [{ columns: ['topic', 'observed'], rows }],
    }
  );
}
