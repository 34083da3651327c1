import type { LoadReport } from '../../../src/contract/index.ts';
import { html, type Html } from '../../../src/report-kit/html.ts';
import { instant, seconds, trimmed } from '../../verdict/amounts.ts';

/** How it was measured, by what, and what the words mean. */
export function methodSection(report: LoadReport): Html {
  return html`<h2>How it was measured</h2>
    <dl>
      ${rowsOf(report).map(
        ([name, value]) =>
          html`<dt>${name}</dt>
            <dd>${value}</dd>`,
      )}
    </dl>
    <details>
      <summary>What the words mean</summary>
      <dl>
        ${glossary.map(
          ([word, meaning]) =>
            html`<dt>${word}</dt>
              <dd>${meaning}</dd>`,
        )}
      </dl>
    </details>`;
}

function rowsOf(report: LoadReport): [string, string][] {
  const { plan, machine, warmUp, seed, kitVersion, startedAt, endedAt, trend } = report;
  const { warmUpMs, rampMs, windowMs, arrivals, percentile } = plan;
  const generator: [string, string][] = machine
    ? [
        ['engine', machine.engineVersion],
        ['machine', `${machine.cpus} x ${machine.cpuModel}, Node ${machine.node}`],
        ['cost of the generator', `${trimmed(machine.cpuPercent, 1)} % of a core`],
      ]
    : [];
  const isVoice = plan.profile === 'voice';
  const calls: [string, string][] =
    plan.calls === undefined
      ? []
      : [
          [
            'calls',
            `${plan.calls}, ${plan.callsPerSecond ?? 0} placed a second; the window begins once all are connected or have failed`,
          ],
          ['judged percentile of calls', 'p95 over calls; the strict reading stands beside it'],
        ];
  const requests: [string, string][] = isVoice
    ? []
    : [
        [
          'phases',
          `warm-up ${seconds(warmUpMs)}, ramp ${seconds(rampMs)}, window ${seconds(windowMs)}`,
        ],
        ['arrivals', `${arrivals}, from absolute times: nothing waits for an answer`],
        ['judged percentile', `p${percentile}; the strict reading stands beside it`],
      ];
  return [
    ['run', `${instant(startedAt)} to ${instant(endedAt)}`],
    ...calls,
    ...requests,
    ...(warmUp
      ? [
          [
            'warm-up',
            `autocannon, ${warmUp.connections} connections, ${warmUp.requests} answers, median ${seconds(warmUp.p50Ms ?? 0)}`,
          ] as [string, string],
        ]
      : []),
    ...(trend
      ? [
          [
            'in flight',
            `${trimmed(trend.perSecond, 2)} a second more; at 95 % ${trimmed(trend.range95[0], 2)} to ${trimmed(trend.range95[1], 2)}`,
          ] as [string, string],
        ]
      : []),
    ...generator,
    ['kit', `sandbox-kit ${kitVersion}, seed ${seed}`],
  ];
}

const glossary: [string, string][] = [
  ['PASS', 'The target is met, and the bound at 95 % is on the right side of it, too.'],
  ['FAIL', 'The target is missed, and so is the bound at 95 %.'],
  [
    'NOT PROVEN',
    'There are too few samples, or they lie too near to the target. Run it for longer.',
  ],
  [
    'INVALID RUN',
    'The generator was the bottleneck, or the run broke off: nothing is said of the sandbox.',
  ],
  ['NOT TESTED', 'It was not asked for.'],
  [
    'at 95 %',
    'The exact one-sided bound (Clopper-Pearson; of percentiles by order statistics). For failures that come in bursts the wider bound of a block bootstrap counts.',
  ],
  [
    'from the intended start',
    'From when the request was due, whatever came before it: a stall is paid by all who would have asked in it.',
  ],
  ['service', 'From when the request left.'],
  ['lag', 'How late requests left: the error of the generator.'],
  [
    'way of the audio',
    'Half of the round trip on the path of the media (p95), a packet, and the buffer that its jitter asks for. It sees no buffer inside the agent.',
  ],
  [
    'answer to a turn',
    'From the end of our speech until the agent was audible: an upper bound of the audio latency. Below 0 where it spoke before.',
  ],
  ['timeouts', 'Stand among the times with the deadline, which is the least that they took.'],
];
