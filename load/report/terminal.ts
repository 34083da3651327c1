import type {
  LatencySummary,
  LoadReport,
  LoadVerdict,
  StreamName,
  StreamReport,
  VoiceLoad,
  VoiceSummary,
} from '../../src/contract/index.ts';
import { comparisonHeading } from '../../src/report-kit/comparison.ts';
import { formatNumber, formatQuantity } from '../../src/report-kit/format.ts';
import { nameTargetVerdict } from '../../src/report-kit/load-standings.ts';
import { toPrintable } from '../../src/report-kit/printable.ts';
import {
  hangingIndent,
  labeled,
  wrap,
  wrapList,
  type Style,
  type TextLayout,
} from '../../src/report-kit/terminal.ts';
import { typeCommandsIn } from '../../src/report-kit/program-name.ts';
import { changeNames } from './comparison.ts';
import { callFaultDescriptions, faultDescriptions } from '../record/fault-descriptions.ts';
import {
  callTimes,
  describeBound,
  countVerdicts,
  describeCalls,
  describeOutages,
  describePackets,
  describeTurns,
  describeSelfCheck,
  describeStream,
  formatRunTime,
  formatTime,
  describeTraceId,
  hasRun,
  listSentStreams,
  requestTimesOf,
} from './wording.ts';

const verdictStyles: Record<LoadVerdict, Style> = {
  PASS: 'green',
  FAIL: 'red',
  'NOT PROVEN': 'yellow',
  'INVALID RUN': 'yellow',
  'NOT TESTED': 'dim',
};

/** Lays out the report for people: targets, measurements, the self-check, and the verdict last. */
export function terminalReport(original: LoadReport, layout: TextLayout): string {
  const report = toPrintable(original);
  const blocks = [
    blockingLines(report, layout),
    targetLines(report, layout),
    ...streamBlocks(report, layout),
    exampleLines(report, layout),
    voiceLines(report, layout),
    outageLines(report, layout),
    findMaxLines(report, layout),
    findMaxCallsLines(report, layout),
    comparisonLines(report, layout),
    selfCheckLines(report, layout),
    noteLines(report, layout),
    verdictLines(report, layout),
  ].filter((lines) => lines.length > 0);
  return `${blocks.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/** Says why the run ended early, and what to do about it. */
function blockingLines(report: LoadReport, { style, width, program }: TextLayout): string[] {
  const { sentence, blockedBy, aborted } = report;
  return [
    ...(blockedBy ? wrap(sentence, width).map((line) => style('red', line)) : []),
    ...(blockedBy ? wrap(typeCommandsIn(blockedBy.cure, program), width) : []),
    ...(aborted === undefined ? [] : wrap(aborted, width).map((line) => style('red', line))),
  ];
}

const VERDICT_WIDTH = 11;

function targetLines(report: LoadReport, { style, width }: TextLayout): string[] {
  // Only the merged report judges the targets.
  if (!hasRun(report) || report.shard) return [];
  const textWidth = width - VERDICT_WIDTH - 2;
  const labelOf = (verdict: LoadVerdict): string =>
    `${style(verdictStyles[verdict], nameTargetVerdict(verdict).padEnd(VERDICT_WIDTH))}  `;
  // The measurements of an invalid run show nothing about the sandbox.
  const invalid = report.targets.filter(({ verdict }) => verdict === 'INVALID RUN');
  const others = report.targets.filter(({ verdict }) => verdict !== 'INVALID RUN');
  const statements = invalid.flatMap(({ statement }) => wrap(statement, textWidth));
  return [
    ...(invalid.length === 0 ? [] : hangingIndent(labelOf('INVALID RUN'), statements)),
    ...others.flatMap((target) => {
      const { verdict, statement, reason } = target;
      const details = wrap(`${reason} ${describeBound(target)}`.trimEnd(), textWidth);
      return hangingIndent(labelOf(verdict), [
        ...wrap(statement, textWidth),
        ...details.map((line) => style('dim', line)),
      ]);
    }),
  ];
}

function streamBlocks(report: LoadReport, layout: TextLayout): string[][] {
  return listSentStreams(report).map(({ name, stream }) =>
    streamLines(name, stream, report.plan, layout),
  );
}

function streamLines(
  name: StreamName,
  stream: StreamReport,
  plan: LoadReport['plan'],
  { style, width }: TextLayout,
): string[] {
  const columns = ['p50', 'p90', 'p99', 'max', 'mean'] as const;
  const errors = Object.entries(stream.errors).flatMap(([kind, count]) => {
    const description = faultDescriptions[kind as keyof typeof faultDescriptions];
    return labeled(errorLabel(count, style), `${kind}: ${description}`, width);
  });
  return [
    ...labeled(`${style('bold', name)}  `, describeStream(name, stream, plan), width),
    style('dim', timeRow('', columns)),
    ...requestTimesOf(plan).map(([key, title]) => {
      const summary: LatencySummary = stream[key];
      return timeRow(
        title,
        columns.map((column) => formatTime(summary[column])),
      );
    }),
    ...errors,
  ];
}

/** Lists failed and slow requests with the ids to look for in the monitoring of the sandbox. */
function exampleLines({ faultSamples, slowest = [] }: LoadReport, layout: TextLayout): string[] {
  const { style, width } = layout;
  const firstOfEach = [...Map.groupBy(faultSamples, ({ kind }) => kind).values()].flatMap(
    ([first]) => first ?? [],
  );
  const failed = firstOfEach.map(({ kind, stream, atMs, detail, traceId }) =>
    labeled(
      '  ',
      `${stream} at ${formatRunTime(atMs)}, ${kind}: ${detail}${describeTraceId(traceId)}`,
      width,
    ),
  );
  const slow = slowest
    .slice(0, SLOWEST_SHOWN)
    .map(
      ({ stream, atMs, responseMs, traceId }) =>
        `  ${stream} at ${formatRunTime(atMs)}, ${formatTime(responseMs)}${describeTraceId(traceId)}`,
    );
  return [
    ...(failed.length === 0 ? [] : [style('bold', 'Failed, first of each kind')]),
    ...failed.flat(),
    ...(slow.length === 0 ? [] : [style('bold', 'Slowest')]),
    ...slow,
  ];
}

const SLOWEST_SHOWN = 3;

const timeRow = (title: string, cells: readonly string[]): string =>
  `  ${title.padEnd(24)}${cells.map((cell) => ` ${cell}`.padStart(9)).join('')}`;

const errorLabel = (count: number, style: TextLayout['style']): string =>
  `  ${style('red', formatNumber(count).padStart(7))}  `;

function voiceLines({ voice }: LoadReport, { style, width }: TextLayout): string[] {
  if (!voice) return [];
  const columns = ['p50', 'p90', 'p95', 'max', 'mean'] as const;
  const times = callTimes.map(([key, title]) => {
    const summary: VoiceSummary = voice[key];
    return timeRow(
      title,
      columns.map((column) => formatTime(summary[column])),
    );
  });
  return [
    `${style('bold', 'voice')}  ${describeCalls(voice)}`,
    style('dim', timeRow('', columns)),
    ...times,
    ...labeled('  ', describePackets(voice), width),
    ...labeled('  ', describeTurns(voice), width),
    ...callErrorLines(voice, { style, width }),
  ];
}

function callErrorLines({ errors, faultSamples }: VoiceLoad, layout: TextLayout): string[] {
  const { style, width } = layout;
  const samples = faultSamples.flatMap(({ call, detail, traceId }) =>
    labeled(' '.repeat(11), `call ${call + 1}: ${detail}${describeTraceId(traceId)}`, width),
  );
  return [
    ...Object.entries(errors).flatMap(([kind, count]) => {
      const description = callFaultDescriptions[kind as keyof typeof callFaultDescriptions];
      return labeled(errorLabel(count, style), `${kind}: ${description}`, width);
    }),
    ...samples.map((line) => style('dim', line)),
  ];
}

function outageLines({ outages, chat }: LoadReport, { width }: TextLayout): string[] {
  if (!outages || outages.incidents === 0) return [];
  const violations = Object.entries(chat?.findings ?? {}).map(([id, count]) => `${id} (${count})`);
  return [
    ...wrap(`${describeOutages(outages)}.`, width),
    ...(violations.length === 0
      ? []
      : wrap(`Requirements that responses violated: ${violations.join(', ')}.`, width)),
  ];
}

function findMaxLines({ findMax }: LoadReport, layout: TextLayout): string[] {
  return searchLines('Maximum rate', findMax, layout, ({ ratePerSecond }) => {
    const rate = formatNumber(ratePerSecond, 1).padStart(8);
    return `  ${rate}/s`;
  });
}

function findMaxCallsLines({ findMaxCalls }: LoadReport, layout: TextLayout): string[] {
  return searchLines('Most concurrent calls', findMaxCalls, layout, ({ calls }) => {
    const count = formatNumber(calls).padStart(6);
    return `${count} calls`;
  });
}

function searchLines<Step extends { holds: boolean; reason: string }>(
  title: string,
  search: { steps: readonly Step[]; summary: string } | undefined,
  { style, width }: TextLayout,
  nameStep: (step: Step) => string,
): string[] {
  if (!search) return [];
  const steps = search.steps.flatMap((step) => {
    const result = step.holds ? style('green', 'sustained') : style('red', 'failed   ');
    return labeled(`${nameStep(step)}  ${result}  `, step.reason, width);
  });
  return [style('bold', title), ...steps, ...wrap(search.summary, width)];
}

function comparisonLines({ comparison }: LoadReport, { style, width }: TextLayout): string[] {
  if (!comparison) return [];
  const rows = comparison.rows.map(({ id, unit, before, now, change }) => {
    const figure = (value: number | null): string =>
      (value === null ? '-' : formatQuantity(value, unit)).padStart(16);
    const color = change === 'worse' ? 'red' : change === 'better' ? 'green' : 'dim';
    return `  ${id.padEnd(18)}${figure(before)}${figure(now)}  ${style(color, changeNames[change])}`;
  });
  const columns = `  ${'target'.padEnd(18)}${'before'.padStart(16)}${'now'.padStart(16)}  change`;
  return [
    style('bold', comparisonHeading(comparison)),
    ...(rows.length === 0 ? [] : [style('dim', columns)]),
    ...rows,
    ...comparison.differences
      .flatMap((difference) => labeled('  ', difference, width))
      .map((line) => style('yellow', line)),
  ];
}

function selfCheckLines(report: LoadReport, { style, width }: TextLayout): string[] {
  const { valid, figures } = report.selfCheck;
  if (figures.length === 0) return [];
  const summary = wrap(describeSelfCheck(report) ?? 'The load generator:', width);
  const values = figures.map(({ name, value, unit }) => `${name} ${formatQuantity(value, unit)}`);
  return [
    ...summary.map((line) => style(valid ? 'green' : 'yellow', line)),
    ...hangingIndent('  ', wrapList(values, width - 2)).map((line) => style('dim', line)),
  ];
}

function noteLines({ notes }: LoadReport, { style, width }: TextLayout): string[] {
  if (notes.length === 0) return [];
  return [style('bold', 'Notes'), ...notes.flatMap((note) => labeled('- ', note, width))];
}

function verdictLines(report: LoadReport, { style, width }: TextLayout): string[] {
  const { verdict, sentence, targets, blockedBy, shard, exitCode } = report;
  if (shard && verdict !== 'INVALID RUN') {
    return wrap(sentence, width).map((line) => style(exitCode === 0 ? 'green' : 'yellow', line));
  }
  const label = style(verdictStyles[verdict], style('bold', verdict));
  const cause = blockedBy ? '' : `${sentence} `;
  const isCounted = verdict === 'INVALID RUN' && !shard;
  const summary = isCounted ? `${cause}${countVerdicts(targets)}` : sentence;
  return labeled(`${label}  `, summary, width);
}
