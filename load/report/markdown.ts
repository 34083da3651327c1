import type { LoadReport } from '../../src/contract/index.ts';
import { comparisonBlocks } from '../../src/report-kit/comparison.ts';
import { formatNumber, formatQuantity } from '../../src/report-kit/format.ts';
import { nameTargetVerdict } from '../../src/report-kit/load-standings.ts';
import { line, markdownLink, renderMarkdown, type Block } from '../../src/report-kit/markdown.ts';
import { toPrintable } from '../../src/report-kit/printable.ts';
import { changeNames } from './comparison.ts';
import {
  callTimes,
  describeCalls,
  describeLoad,
  describePackets,
  describeTurns,
  describeSelfCheck,
  describeTraceId,
  formatRunTime,
  formatTime,
  hasRun,
  listExamples,
  targetColumns,
} from './wording.ts';

const icons = {
  PASS: '✅',
  FAIL: '❌',
  'NOT PROVEN': '❔',
  'INVALID RUN': '⚠️',
  'NOT TESTED': '➖',
};

/** Writes the report as Markdown for the summary of a CI step: the verdict, then every target. */
export function markdownReport(original: LoadReport): string {
  const report = toPrintable(original);
  const { verdict, sentence, blockedBy, aborted, selfCheck, plan, notes, seed } = report;
  const selfCheckText = selfCheck.figures.length > 0 ? describeSelfCheck(report) : undefined;
  return renderMarkdown(`sandbox-kit load: ${verdict}`, [
    sentence,
    blockedBy?.cure,
    aborted !== undefined && line`**${aborted}**`,
    !blockedBy && selfCheckText !== undefined && { quote: selfCheckText },
    hasRun(report) && targetTable(report),
    examples(report),
    ...calls(report),
    report.findMax?.summary,
    report.findMaxCalls?.summary,
    ...changes(report),
    line`${markdownLink(report.sandbox)}, ${describeLoad(report)}, profile ${plan.profile}, engine ${plan.engine}, seed ${seed}.`,
    { list: notes },
  ]);
}

const figure = (value: number | null, unit: string): string =>
  value === null ? '' : formatQuantity(value, unit);

const targetTable = ({ targets }: LoadReport): Block => ({
  columns: ['target', ...Object.values(targetColumns), 'verdict', 'reason'],
  rows: targets.map(({ statement, unit, target, measured, bound95, samples, verdict, reason }) => [
    statement,
    ...[target, measured, bound95].map((value) => figure(value, unit)),
    samples === 0 ? '' : formatNumber(samples),
    `${icons[verdict]} ${nameTargetVerdict(verdict)}`,
    reason,
  ]),
});

function examples(report: LoadReport): Block {
  const rows = listExamples(report).map(({ stream, atMs, what, traceId = '' }) => [
    ...[stream, formatRunTime(atMs), what, traceId],
  ]);
  return (
    rows.length > 0 && {
      summary: 'Failed and slowest requests',
      blocks: [{ columns: ['request', 'at', 'what', 'trace id'], rows }],
    }
  );
}

function calls({ voice }: LoadReport): Block[] {
  if (!voice) return [];
  const rows = callTimes.map(([key, title]) => {
    const { p50, p95, max } = voice[key];
    return [title, ...[p50, p95, max].map((ms) => formatTime(ms, ''))];
  });
  const samples = voice.faultSamples.map(
    ({ kind, call, detail, traceId }) =>
      `${kind}, call ${call + 1}: ${detail}${describeTraceId(traceId)}`,
  );
  return [
    { heading: describeCalls(voice) },
    { columns: ['time', 'p50', 'p95', 'max'], rows },
    `${describePackets(voice)}; ${describeTurns(voice)}`,
    { list: samples },
  ];
}

function changes({ comparison }: LoadReport): Block[] {
  if (!comparison) return [];
  const rows = comparison.rows.map(({ id, unit, before, now, change }) => [
    ...[id, figure(before, unit), figure(now, unit), changeNames[change]],
  ]);
  return comparisonBlocks(comparison, [{ columns: ['target', 'before', 'now', 'change'], rows }]);
}
