import type { CallSummary, CheckReport } from '../../src/contract/index.ts';
import { formatCount, formatDuration, formatNumber } from '../../src/report-kit/format.ts';
import { labeled, shorten, type TextLayout } from '../../src/report-kit/terminal.ts';

const ID_COLUMN = '  exchange  ';
const STEP_WIDTH_MAX = 26;

/** Lists the calls, one per line (only those with media unless verbose), and the audio latency. */
export function callLines(
  { calls = [], audioLatency }: CheckReport,
  { style, width, verbose = false }: TextLayout & { verbose?: boolean },
): string[] {
  const shown = calls.filter(({ packets }) => verbose || packets > 0);
  if (shown.length === 0) return [];
  const stepWidth = Math.min(STEP_WIDTH_MAX, 2 + Math.max(...shown.map(({ step }) => step.length)));
  const lines = shown.flatMap((call) => {
    const id = String(call.exchange).padStart(ID_COLUMN.length - 2);
    const label = `${id}  ${shorten(call.step, STEP_WIDTH_MAX - 2).padEnd(stepWidth)}`;
    return labeled(label, describeCall(call), width);
  });
  const hidden = calls.length - shown.length;
  return [
    style('bold', 'Calls'),
    style('dim', `${ID_COLUMN}${'call'.padEnd(stepWidth)}result`),
    ...lines,
    ...(hidden > 0 ? [style('dim', `  and ${formatNumber(hidden)} more without media`)] : []),
    ...(audioLatency ? labeled('  ', describeLatency(audioLatency), width) : []),
  ];
}

/** Describes a call: "ready 3 ms, media 184 ms, 2 turns (162, 171 ms), 6.2 s of audio". */
function describeCall(call: CallSummary): string {
  const { readyMs, connectedMs, turns, turnResponsesMs = [], packets, lost, soundMs } = call;
  const responses =
    turnResponsesMs.length > 0 ? ` (${turnResponsesMs.map(Math.round).join(', ')} ms)` : '';
  return [
    ...(readyMs === undefined ? [call.outcome] : [`ready ${Math.round(readyMs)} ms`]),
    ...(connectedMs === undefined ? [] : [`media ${Math.round(connectedMs)} ms`]),
    ...(turns === 0 ? [] : [`${formatCount(turns, 'turn')}${responses}`]),
    ...(packets === 0 ? [] : [`${(soundMs / 1000).toFixed(1)} s of audio`]),
    ...(lost === 0 ? [] : [`${lost} of ${lost + packets} packets lost`]),
  ].join(', ');
}

const verdictNames = { met: 'met', missed: 'missed', not_proven: 'not proven' } as const;

function describeLatency(latency: NonNullable<CheckReport['audioLatency']>): string {
  const { verdict, reason, audioPathLatencyMs, turnResponseMs } = latency;
  const path =
    audioPathLatencyMs === undefined ? 'not measured' : formatDuration(audioPathLatencyMs);
  const response = turnResponseMs
    ? `p50 ${formatDuration(turnResponseMs.p50)}, max ${formatDuration(turnResponseMs.max)} over ${formatCount(turnResponseMs.turns, 'turn')}`
    : 'not measured';
  return `Audio latency under 200 ms: ${verdictNames[verdict]} (${reason}). Network path latency: ${path}. Response latency: ${response}.`;
}
