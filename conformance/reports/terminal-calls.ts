import type { CallSummary, CheckReport } from '../../src/contract/index.ts';
import type { ApplyStyle } from '../../src/report-kit/terminal.ts';
import { fold, hanging } from './layout.ts';

/** How the calls are written. */
interface Options {
  style: ApplyStyle;
  width: number;
  verbose?: boolean;
}

const HEAD = '  exchange  ';
const STEP_WIDTH_MAX = 26;

/** The calls, one line each: those with media, all of them where all is told. Then the latency. */
export function callsBlock(report: CheckReport, { style, width, verbose }: Options): string[] {
  const { calls = [], audioLatency } = report;
  const shown = calls.filter(({ packets }) => (verbose ?? false) || packets > 0);
  if (shown.length === 0) return [];
  const stepWidth = Math.min(STEP_WIDTH_MAX, 2 + Math.max(...shown.map(({ step }) => step.length)));
  const lines = shown.flatMap((one) => {
    const number = String(one.exchange).padStart(HEAD.length - 2);
    const head = `${number}  ${one.step.slice(0, STEP_WIDTH_MAX - 2).padEnd(stepWidth)}`;
    return hanging(head, callWords(one), width);
  });
  const left = calls.length - shown.length;
  const more = left > 0 ? [`  and ${left} more in which no media was sent`] : [];
  const latency = audioLatency ? fold(latencyWords(audioLatency), width - 2) : [];
  return [
    [
      style('bold', 'Calls'),
      style('dim', `${HEAD}${'call'.padEnd(stepWidth)}what came of it`),
      ...lines,
      ...more.map((line) => style('dim', line)),
      ...latency.map((line) => `  ${line}`),
    ].join('\n'),
  ];
}

/** "ready 3 ms, media 184 ms, 2 turns (162, 171 ms), heard 6.2 s, no packet lost". */
function callWords(one: CallSummary): string {
  const { readyMs, connectedMs, turns, turnResponsesMs = [], packets, lost, soundMs } = one;
  const responses =
    turnResponsesMs.length > 0 ? ` (${turnResponsesMs.map(Math.round).join(', ')} ms)` : '';
  return [
    ...(readyMs === undefined ? [one.outcome] : [`ready ${Math.round(readyMs)} ms`]),
    ...(connectedMs === undefined ? [] : [`media ${Math.round(connectedMs)} ms`]),
    ...(turns === 0 ? [] : [`${turns} ${turns === 1 ? 'turn' : 'turns'}${responses}`]),
    ...(packets === 0 ? [] : [`heard ${(soundMs / 1000).toFixed(1)} s`]),
    ...(lost === 0 ? [] : [`${lost} of ${lost + packets} packets lost`]),
  ].join(', ');
}

const verdictWords = { met: 'met', missed: 'missed', not_proven: 'not proven' } as const;

/** Both figures, always; then what follows from them. */
function latencyWords(latency: NonNullable<CheckReport['audioLatency']>): string {
  const { verdict, reason, audioPathLatencyMs, turnResponseMs } = latency;
  const path =
    audioPathLatencyMs === undefined ? 'not measured' : `${Math.round(audioPathLatencyMs)} ms`;
  const turn = turnResponseMs
    ? `p50 ${Math.round(turnResponseMs.p50)} ms, max ${Math.round(turnResponseMs.max)} ms of ${turnResponseMs.turns}`
    : 'not measured';
  return `Audio latency under 200 ms: ${verdictWords[verdict]}. Path ${path}; reply to a turn ${turn} (${reason}).`;
}
