import type { LoadReport, MergedShard } from '../../../src/contract/index.ts';
import { renderFactList } from '../../../src/report-kit/fact-list.ts';
import { html } from '../../../src/report-kit/html.ts';
import type { ReportSection } from '../../../src/report-kit/run-report.ts';
import {
  formatCount,
  formatDuration,
  formatInstant,
  formatNumber,
} from '../../../src/report-kit/format.ts';
import { describeNetwork } from '../../../src/voice/line-impairment/network-presets.ts';
import { CLOSED_LOOP_LIMIT, isClosedLoop } from '../../closed-loop.ts';
import { sendsRequests } from '../../profiles/profiles.ts';
import { CALLS_PERCENTILE } from '../../verdict/voice.ts';

/** Renders how the run measured, on what machine, and what the terms mean. */
export function methodSection(report: LoadReport): ReportSection {
  const body = html`${renderFactList(methodRows(report))}
    <details>
      <summary>Terms</summary>
      ${renderFactList(glossary)}
    </details>`;
  return { id: 'method', title: 'Method', body };
}

function methodRows(report: LoadReport): [string, string][] {
  const {
    plan,
    machine,
    warmUp,
    seed,
    kitVersion,
    startedAt,
    endedAt,
    trend,
    mergedFrom = [],
  } = report;
  const { warmUpMs, rampMs, windowMs } = plan;
  const generator: [string, string][] = machine
    ? [
        ['engine', machine.engineVersion],
        ['machine', `${machine.cpus} x ${machine.cpuModel}, Node ${machine.node}`],
        ['CPU of the load generator', `${formatNumber(machine.cpuPercent, 1)}% of a core`],
      ]
    : [];
  const requests: [string, string][] = sendsRequests(plan.profile)
    ? [
        [
          'phases',
          `warm-up ${formatDuration(warmUpMs)}, ramp-up ${formatDuration(rampMs)}, steady state ${formatDuration(windowMs)}`,
        ],
        ...describePacing(plan),
      ]
    : [];
  return [
    ['run', `${formatInstant(startedAt)} to ${formatInstant(endedAt)}`],
    ...describeCalls(plan),
    ...requests,
    ...(warmUp
      ? [
          [
            'warm-up',
            `closed loop with ${formatCount(warmUp.connections, 'connection')}, ${formatCount(warmUp.requests, 'response')}${warmUp.p50Ms === null ? '' : `, median ${formatDuration(warmUp.p50Ms)}`}`,
          ] as [string, string],
        ]
      : []),
    ...(trend
      ? [
          [
            'in-flight trend',
            `${formatNumber(trend.perSecond, 2)} per second; 95% range ${formatNumber(trend.range95[0], 2)} to ${formatNumber(trend.range95[1], 2)}`,
          ] as [string, string],
        ]
      : []),
    ...generator,
    ...mergedFrom.map(shardRow),
    ['kit', `sandbox-kit ${kitVersion}, seed ${seed}`],
  ];
}

/** Describes how calls are placed and counted; nothing in a run without calls. */
function describeCalls(plan: LoadReport['plan']): [string, string][] {
  if (plan.calls === undefined) return [];
  const placed = `placed at ${plan.callsPerSecond ?? 0} per second`;
  const network: [string, string][] = plan.network
    ? [['network', describeNetwork(plan.network)]]
    : [];
  return [
    [
      'calls',
      `${formatNumber(plan.calls)}, ${placed}; the steady state begins when every call is connected or has failed`,
    ],
    ...network,
    ['percentile of calls', `p${CALLS_PERCENTILE} over calls; the reason also counts every miss`],
  ];
}

/** Describes when requests are sent. */
function describePacing(plan: LoadReport['plan']): [string, string][] {
  const { arrivals, percentile } = plan;
  if (isClosedLoop(plan)) {
    const loop = `${formatCount(plan.connections, 'connection')}; each sends the next request after a response. Requests in flight at the end do not count.`;
    return [['closed loop', `${loop} ${CLOSED_LOOP_LIMIT}`]];
  }
  return [
    ['arrivals', `${arrivals}, at scheduled times; no request waits for an earlier response`],
    ['percentile', `p${percentile}; the reason also counts every miss`],
  ];
}

/** Describes a shard of a merged report: its start, its self-check, and its machine. */
function shardRow({
  index,
  count,
  windowStartedAt,
  selfCheck,
  machine,
}: MergedShard): [string, string] {
  const start =
    windowStartedAt === undefined
      ? 'did not start'
      : `steady state from ${formatInstant(windowStartedAt)}`;
  const generator = machine
    ? [`${machine.cpus} x ${machine.cpuModel}`, `${formatNumber(machine.cpuPercent, 1)}% of a core`]
    : [];
  const parts = [start, selfCheck.valid ? 'kept up' : 'invalid', ...generator];
  return [`shard ${index}/${count}`, parts.join(', ')];
}

const glossary: [string, string][] = [
  ['PASS', 'The measurement and its 95% bound both meet the target.'],
  ['FAIL', 'The measurement and its 95% bound both miss the target.'],
  [
    'NOT PROVEN',
    'There are too few samples, or the result is too close to the target. Run for longer.',
  ],
  [
    'INVALID RUN',
    'The load generator was the bottleneck, or the run ended early. The run shows nothing about the sandbox, so its targets are not judged.',
  ],
  ['NOT TESTED', 'The profile does not include this target, or the engine does not measure it.'],
  [
    '95% bound',
    'The exact one-sided bound (Clopper-Pearson; order statistics for percentiles). If failures come in bursts, the wider bound of a block bootstrap applies.',
  ],
  [
    'response time',
    'Measured from the intended start of a request, so that a stall counts for every request that was due during it. A timeout counts with its deadline.',
  ],
  ['service time', 'Measured from the moment the request was sent.'],
  ['send lag', 'How late the load generator sent requests.'],
  [
    'steady state',
    'The judged part of the run, at the full rate. Ramp-up and drain are not judged.',
  ],
  [
    'network path latency',
    'Half of the media round trip (p95), one packet, and the buffer that the jitter requires. Buffers inside the agent are not visible.',
  ],
  [
    'response latency',
    "From the end of the simulated user's speech until the agent is audible: an upper bound of the audio latency. Negative if the agent spoke earlier.",
  ],
];
