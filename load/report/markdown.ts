import type { LoadReport, LoadTarget } from '../../src/contract/index.ts';
import { instant, seconds } from '../verdict/amounts.ts';
import { amount } from './terminal.ts';
import { callsWords, callTimes, packetWords } from './terminal-voice.ts';
import { hasRun, loadWords } from './what-ran.ts';
import { showable } from './showable.ts';

const marks = {
  PASS: '✅',
  FAIL: '❌',
  'NOT PROVEN': '❔',
  'INVALID RUN': '⚠️',
  'NOT TESTED': '➖',
};

/** The report as Markdown, for the summary of a CI step: the verdict, then every target. */
export function markdownReport(given: LoadReport): string {
  const report = showable(given);
  const { verdict, sentence, blockedBy, aborted, selfCheck, plan, notes, targets, findMax } =
    report;
  const cause = blockedBy ? [`**${cell(blockedBy.message)}** ${cell(blockedBy.cure)}`, ''] : [];
  const lines = [
    `## sandbox-kit load: ${verdict}`,
    '',
    cell(sentence),
    '',
    ...cause,
    ...(aborted === undefined ? [] : [`**${cell(aborted)}**`, '']),
    ...(selfCheck.valid || blockedBy
      ? []
      : selfCheck.reasons.map((reason) => `> ${cell(reason)}\n`)),
    ...(hasRun(report) ? [...HEAD, ...targets.map(rowOf), ''] : []),
    ...voiceOf(report),
    ...(findMax ? [cell(findMax.summary), ''] : []),
    ...comparisonOf(report),
    `${cell(report.sandbox)}, ${loadWords(report)} for ${plan.windowMs / 1000} s, profile ${plan.profile}, engine ${plan.engine}, seed ${cell(report.seed)}.`,
    ...(notes.length === 0 ? [] : ['', ...notes.map((note) => `- ${cell(note)}`)]),
  ];
  return `${lines.join('\n')}\n`;
}

const HEAD = [
  '| target | asked | measured | at 95 % | samples | verdict | why |',
  '|---|---|---|---|---|---|---|',
];

function rowOf(target: LoadTarget): string {
  const { statement, unit, measured, bound95, samples, verdict, reason } = target;
  const figure = (value: number | null): string => (value === null ? '' : amount(value, unit));
  const cells = [
    statement,
    figure(target.target),
    figure(measured),
    figure(bound95),
    samples === 0 ? '' : String(samples),
    `${marks[verdict]} ${verdict}`,
    reason,
  ];
  return `| ${cells.map(cell).join(' | ')} |`;
}

function voiceOf({ voice }: LoadReport): string[] {
  if (!voice) return [];
  const figure = (ms: number | null): string => (ms === null ? '' : seconds(ms));
  return [
    `### ${cell(callsWords(voice))}`,
    '',
    '| | p50 | p95 | max |',
    '|---|---|---|---|',
    ...callTimes.map(([key, title]) => {
      const { p50, p95, max } = voice[key];
      return `| ${[title, figure(p50), figure(p95), figure(max)].map(cell).join(' | ')} |`;
    }),
    '',
    cell(packetWords(voice)),
    '',
    ...voice.faultSamples.map(
      ({ kind, call, detail }) => `- ${cell(`${kind}, call ${call + 1}: ${detail}`)}`,
    ),
    ...(voice.faultSamples.length === 0 ? [] : ['']),
  ];
}

function comparisonOf({ comparison }: LoadReport): string[] {
  if (!comparison) return [];
  const { startedAt, rows, differences } = comparison;
  return [
    `### Against the run of ${cell(instant(startedAt))}`,
    '',
    ...differences.map((difference) => `> ${cell(difference)}\n`),
    '| target | before | now | change |',
    '|---|---|---|---|',
    ...rows.map(({ id, unit, before, now, change }) => {
      const figure = (value: number | null): string => (value === null ? '' : amount(value, unit));
      return `| ${[id, figure(before), figure(now), change].map(cell).join(' | ')} |`;
    }),
    '',
  ];
}

/** What comes from a sandbox is text: never markup, a link, a mention or a formula. */
function cell(text: string): string {
  return text.replaceAll(
    /[&<>|`*_[\]\\~$@:#!]|(?<=\bwww)\./gi,
    (mark) => `&#${mark.charCodeAt(0)};`,
  );
}
