import type { LoadReport, LoadTarget } from '../../src/contract/index.ts';
import { formatInstant, formatNumber, formatQuantity } from '../../src/report-kit/format.ts';
import { escapeMarkdown, markdownLink, markdownTable } from '../../src/report-kit/markdown.ts';
import { toPrintable } from '../../src/report-kit/printable.ts';
import {
  callTimes,
  COMPARISON_HEADING,
  describeCalls,
  describeLoad,
  describePackets,
  describeSelfCheck,
  formatTime,
  hasRun,
  targetColumns,
  describeTraceId,
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
  const { verdict, sentence, blockedBy, aborted, selfCheck, plan, notes, targets, findMax } =
    report;
  const columns = ['target', ...Object.values(targetColumns), 'verdict', 'reason'];
  const lines = [
    `## sandbox-kit load: ${verdict}`,
    '',
    escapeMarkdown(sentence),
    '',
    ...(blockedBy ? [escapeMarkdown(blockedBy.cure), ''] : []),
    ...(aborted === undefined ? [] : [`**${escapeMarkdown(aborted)}**`, '']),
    ...(blockedBy || selfCheck.figures.length === 0
      ? []
      : [`> ${escapeMarkdown(describeSelfCheck(report))}`, '']),
    ...(hasRun(report) ? [...markdownTable(columns, targets.map(targetCells)), ''] : []),
    ...exampleLines(report),
    ...voiceLines(report),
    ...(findMax ? [escapeMarkdown(findMax.summary), ''] : []),
    ...comparisonLines(report),
    `${markdownLink(report.sandbox)}, ${describeLoad(report)}, profile ${plan.profile}, engine ${plan.engine}, seed ${escapeMarkdown(report.seed)}.`,
    ...(notes.length === 0 ? [] : ['', ...notes.map((note) => `- ${escapeMarkdown(note)}`)]),
  ];
  return `${lines.join('\n')}\n`;
}

const figure = (value: number | null, unit: string): string =>
  value === null ? '' : formatQuantity(value, unit);

function targetCells(target: LoadTarget): string[] {
  const { statement, unit, measured, bound95, samples, verdict, reason } = target;
  return [
    statement,
    figure(target.target, unit),
    figure(measured, unit),
    figure(bound95, unit),
    samples === 0 ? '' : formatNumber(samples),
    `${icons[verdict]} ${verdict}`,
    reason,
  ];
}

/** Lists failed and slow requests with the ids to look for in the monitoring of the sandbox. */
function exampleLines({ faultSamples, slowest = [] }: LoadReport): string[] {
  const at = (atMs: number): string => `${formatNumber(atMs / 1000, 1)} s`;
  const rows = [
    ...faultSamples.map(({ stream, atMs, kind, detail, traceId = '' }) => [
      ...[stream, at(atMs), `${kind}: ${detail}`, traceId],
    ]),
    ...slowest.map(({ stream, atMs, responseMs, traceId }) => [
      ...[stream, at(atMs), `slow: ${formatTime(responseMs)}`, traceId],
    ]),
  ];
  if (rows.length === 0) return [];
  return [
    '<details><summary>Failed and slowest requests</summary>',
    '',
    ...markdownTable(['request', 'at', 'what', 'trace id'], rows),
    '',
    '</details>',
    '',
  ];
}

function voiceLines({ voice }: LoadReport): string[] {
  if (!voice) return [];
  const rows = callTimes.map(([key, title]) => {
    const { p50, p95, max } = voice[key];
    return [title, ...[p50, p95, max].map((ms) => formatTime(ms, ''))];
  });
  return [
    `### ${escapeMarkdown(describeCalls(voice))}`,
    '',
    ...markdownTable(['time', 'p50', 'p95', 'max'], rows),
    '',
    escapeMarkdown(describePackets(voice)),
    '',
    ...voice.faultSamples.map(
      ({ kind, call, detail, traceId }) =>
        `- ${escapeMarkdown(`${kind}, call ${call + 1}: ${detail}${describeTraceId(traceId)}`)}`,
    ),
    ...(voice.faultSamples.length === 0 ? [] : ['']),
  ];
}

function comparisonLines({ comparison }: LoadReport): string[] {
  if (!comparison) return [];
  const { startedAt, rows, differences } = comparison;
  return [
    `### ${COMPARISON_HEADING} ${escapeMarkdown(formatInstant(startedAt))}`,
    '',
    ...differences.map((difference) => `> ${escapeMarkdown(difference)}\n`),
    ...markdownTable(
      ['target', 'before', 'now', 'change'],
      rows.map(({ id, unit, before, now, change }) => [
        id,
        figure(before, unit),
        figure(now, unit),
        change,
      ]),
    ),
    '',
  ];
}
