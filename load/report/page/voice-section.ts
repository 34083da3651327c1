import {
  VOICE_AUDIO_LATENCY_MS_TARGET,
  type CallFaultKind,
  type LoadReport,
  type VoiceLoad,
  type VoiceSecond,
} from '../../../src/contract/index.ts';
import { html, type Html } from '../../../src/report-kit/html.ts';
import {
  fillArea,
  drawBox,
  drawLine,
  createLinearAxis,
  drawDot,
  drawTarget,
  renderChart,
  createSecondsAxis,
  shadeRange,
  createTimeAxis,
  type Axis,
  type Plot,
  type Point,
} from '../../../src/report-kit/chart.ts';
import { formatCount, formatDuration } from '../../../src/report-kit/format.ts';
import { renderItems } from '../../../src/report-kit/table.ts';
import type { ReportSection } from '../../../src/report-kit/run-report.ts';
import { callFaultDescriptions } from '../../record/fault-descriptions.ts';
import { describeCalls, describePackets, describeTurns, formatTime } from '../wording.ts';
import { renderTargetVerdict, errorsTable, timesTable } from './tables.ts';

/** Renders the calls: over time, per call, and in figures. */
export function voiceSection({ voice, plan }: LoadReport): ReportSection | undefined {
  if (!voice) return undefined;
  const body = html`<p>
      ${describeCalls(voice)}. ${describePackets(voice)}. ${describeTurns(voice)}.
    </p>
    ${timeCharts(voice, plan.windowMs / 1000)} ${callChart(voice)} ${renderTimes(voice)}
    ${renderErrors(voice)} ${callsTable(voice)}`;
  return { id: 'voice', title: 'Voice', body };
}

function timeCharts({ timeline }: VoiceLoad, windowS: number): Html {
  const [first] = timeline;
  const last = timeline.at(-1);
  if (!first || !last || timeline.length < 2) return html``;
  const x = (ticksMax: number): Axis => createSecondsAxis(first.second, last.second + 1, ticksMax);
  const points = (pick: (second: VoiceSecond) => number): Point[] =>
    timeline.map((row) => [row.second + 0.5, pick(row)]);
  const unjudged = (plot: Plot): Html[] => [
    shadeRange(plot, first.second, 0),
    shadeRange(plot, windowS, last.second + 1),
  ];
  const most = (pick: (second: VoiceSecond) => number): number => Math.max(...timeline.map(pick));
  const up = points((row) => row.up);
  return html`<figure>
      <h3>Connected calls</h3>
      ${renderChart((ticksMax) => ({
        label: 'Connected calls over time',
        x: x(ticksMax),
        y: createLinearAxis(
          most((row) => row.up),
          String,
        ),
        height: 110,
        marks: (plot) => [...unjudged(plot), fillArea(plot, up, 'c4'), drawLine(plot, up, 'c4')],
      }))}
    </figure>
    <figure>
      <h3>Audio packets per second</h3>
      <figcaption>
        <span class="key c1 dash">sent</span><span class="key c3">received</span>
      </figcaption>
      ${renderChart((ticksMax) => ({
        label: 'Audio packets per second, sent and received',
        x: x(ticksMax),
        y: createLinearAxis(
          most((row) => Math.max(row.sent, row.received)),
          String,
        ),
        height: 110,
        marks: (plot) => [
          ...unjudged(plot),
          drawLine(
            plot,
            points((row) => row.received),
            'c3',
          ),
          drawLine(
            plot,
            points((row) => row.sent),
            'c1 dashed',
          ),
        ],
      }))}
    </figure>
    ${gapChart({ timeline }, x, unjudged)}`;
}

function gapChart(
  { timeline }: Pick<VoiceLoad, 'timeline'>,
  x: (ticksMax: number) => Axis,
  unjudged: (plot: Plot) => Html[],
): Html {
  const most = Math.max(...timeline.map(({ gaps }) => gaps));
  if (most === 0) return html``;
  return html`<figure>
    <h3>Audio gaps over 40 ms</h3>
    ${renderChart((ticksMax) => ({
      label: 'Audio gaps over 40 ms over time',
      x: x(ticksMax),
      y: createLinearAxis(most, String),
      height: 70,
      marks: (plot) => [...unjudged(plot), ...timeline.flatMap((row) => gapBar(plot, row))],
    }))}
  </figure>`;
}

function gapBar(plot: Plot, { second, gaps }: VoiceSecond): Html[] {
  if (gaps === 0) return [];
  const title = `${formatCount(gaps, 'gap')} at ${second} s`;
  return [drawBox(plot, [second, second + 1], [0, gaps], { className: 'bar k0', title })];
}

/** Charts both latencies of each call: network path latency, and median response latency. */
function callChart({ perCall }: VoiceLoad): Html {
  const latenciesMs = perCall.flatMap(({ audioPathLatencyMs, turnResponseMs }) =>
    [audioPathLatencyMs ?? [], Math.max(1, turnResponseMs ?? 1)].flat(),
  );
  const isMeasured = perCall.some(({ audioPathLatencyMs }) => audioPathLatencyMs !== null);
  // The table of calls has the times of a single call.
  if (!isMeasured || perCall.length < 2) return html``;
  const count = perCall.length;
  const x: Axis = {
    min: 0,
    max: count + 1,
    scale: 'linear',
    ticks: [...new Set([1, Math.ceil(count / 2), count])].map((value) => ({
      value,
      label: `call ${value}`,
    })),
  };
  return html`<figure>
    <h3>Latency per call</h3>
    <figcaption>
      <span class="key c1">● network path latency</span
      ><span class="key c2">■ response latency (median)</span>
    </figcaption>
    ${renderChart(() => ({
      label: 'Network path latency and median response latency per call',
      x,
      y: createTimeAxis(
        Math.min(...latenciesMs, 100),
        Math.max(...latenciesMs, VOICE_AUDIO_LATENCY_MS_TARGET),
      ),
      height: 180,
      marks: (plot) => [
        drawTarget(plot, VOICE_AUDIO_LATENCY_MS_TARGET),
        ...perCall.flatMap(({ call, audioPathLatencyMs, turnResponseMs }) => [
          ...dot(plot, call + 1, audioPathLatencyMs, 'c1'),
          ...dot(plot, call + 1, turnResponseMs, 'c2'),
        ]),
      ],
    }))}
  </figure>`;
}

function dot(plot: Plot, call: number, ms: number | null, className: string): Html[] {
  if (ms === null) return [];
  return [
    drawDot(plot, [call, ms], {
      className: `dot ${className}`,
      // The shapes tell the two latencies apart without color.
      shape: className === 'c2' ? 'square' : 'circle',
      title: `call ${call}: ${formatDuration(ms)}`,
    }),
  ];
}

const columns = ['p50', 'p90', 'p95', 'p99', 'max', 'mean'] as const;
const timeRows = [
  ['setupMs', 'time to connect'],
  ['readyMs', 'start_call to call_ready'],
  ['firstPacketMs', 'time to first audio'],
  ['audioPathLatencyMs', 'network path latency'],
  ['roundTripMs', 'media round trip'],
  ['jitterMs', 'jitter (p99 of packet delays)'],
  ['turnResponseMs', 'response latency'],
] as const;

const renderTimes = (voice: VoiceLoad): Html =>
  timesTable(
    'Times of calls',
    columns,
    timeRows.map(([key, title]) => ({ title, times: voice[key] })),
  );

function renderErrors({ errors, faultSamples }: VoiceLoad): Html {
  const kinds = Object.entries(errors);
  if (kinds.length === 0) return html``;
  const rows = kinds.map(([kind, count]) => ({
    kind,
    count,
    description: callFaultDescriptions[kind as CallFaultKind],
    examples: faultSamples
      .filter((sample) => sample.kind === kind)
      .map(({ call, session, ...sample }) => ({
        ...sample,
        source: `call ${call + 1}, ${session}`,
      })),
  }));
  return html`<h3>Failed calls</h3>
    ${errorsTable('calls', rows)}`;
}

function callsTable({ perCall }: VoiceLoad): Html {
  const time = (ms: number | null): string => formatTime(ms, '–');
  const table = renderItems({
    label: 'All calls',
    items: perCall,
    columns: [
      { name: 'call', content: ({ call }) => call + 1 },
      { name: 'verdict', content: ({ verdict }) => renderTargetVerdict(verdict) },
      { name: 'connected', isNumber: true, content: ({ setupMs }) => time(setupMs) },
      {
        name: 'path',
        isNumber: true,
        content: ({ audioPathLatencyMs }) => time(audioPathLatencyMs),
      },
      { name: 'response', isNumber: true, content: ({ turnResponseMs }) => time(turnResponseMs) },
      { name: 'lost', isNumber: true, content: ({ lostPackets }) => lostPackets },
      { name: 'reason', className: 'why', content: ({ reason }) => reason },
    ],
  });
  return html`<details>
    <summary>All calls</summary>
    ${table}
  </details>`;
}
