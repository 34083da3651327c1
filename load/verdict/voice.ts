import type { LoadTarget } from '../../src/contract/index.ts';
import type { Random } from '../../src/platform/random.ts';
import { findPercentile, type LatencyVerdict } from '../../src/voice/latency/index.ts';
import { count, seconds, trimmed } from './amounts.ts';
import { rankAbove, rankBelow, shareAtMost } from './binomial.ts';
import { judgeShare } from './share.ts';
import { rows, type Row } from './targets.ts';

/** What was seen of the calls of a run. */
export interface SeenCalls {
  calls: number;
  /** Those that stood all through the window, with audio. */
  held: number;
  /** "no_path 3, dropped 1": why the others did not; empty where there are none. */
  kinds: string;
  ranMs: number;
  /** Of each call that was held. */
  latencies: readonly { pathMs: number | undefined; verdict: LatencyVerdict }[];
}

/** Of voice a percentile over calls is judged. */
const CALLS_PERCENTILE = 95;
/** Calls that are held for less show little. */
const HELD_MS_MIN = 60_000;

/**
 * Judges whether so many calls were held at once. That they were is seen and not inferred, so it has no
 * bounds; what it says of further calls stands in the reason.
 */
export function judgeConnections({ calls, held, kinds, ranMs }: SeenCalls): LoadTarget {
  const row = rowFor(calls);
  const lost = calls - held;
  const word: Pick<LoadTarget, 'verdict'> & { because?: string } =
    lost > 0
      ? { verdict: 'FAIL' }
      : calls < row.target
        ? { verdict: 'NOT PROVEN', because: `only ${count(calls, 'call')} were placed` }
        : ranMs < HELD_MS_MIN
          ? {
              verdict: 'NOT PROVEN',
              because: `they were held for ${seconds(ranMs)} and not for 60 s`,
            }
          : { verdict: 'PASS' };
  const sure = trimmed(Math.floor((1 - shareAtMost(lost, calls)) * 1000) / 10, 1);
  const said = `${held} of ${calls} calls stood at once for ${seconds(ranMs)}, with audio both ways${kinds === '' ? '' : `; ${kinds}`}. Of further calls at least ${sure} % would, at 95 %.`;
  return {
    ...row,
    measured: held,
    bound95: held,
    range95: [held, held],
    samples: calls,
    verdict: word.verdict,
    reason: word.because === undefined ? said : `${said} Not proven: ${word.because}.`,
  };
}

/** What is placed must be held: with more calls than the target, the row is about those. */
function rowFor(calls: number): Row {
  const row = rows.voiceConnections;
  if (calls <= row.target) return row;
  const statement = `Voice holds ${calls} connections at once (${row.target} are asked for).`;
  return { ...row, target: calls, statement };
}

/**
 * Judges the audio latency at the 95th percentile over calls: FAIL where more than 5 % of them miss the
 * target, PASS where less than 5 % do anything but meet it, each at 95 % confidence. A call whose way of
 * the audio is short but whose turns are not may have a buffer inside the agent: it is not proven.
 */
export function judgeVoiceLatency({ latencies }: SeenCalls, chance: Random): LoadTarget {
  const row = rows.voiceLatency;
  const paths = latencies.flatMap(({ pathMs }) => pathMs ?? []).sort((one, other) => one - other);
  const samples = latencies.length;
  const counted = (wanted: LatencyVerdict): number =>
    latencies.filter(({ verdict }) => verdict === wanted).length;
  const [met, missed, unknown] = [counted('met'), counted('missed'), counted('not_proven')];
  const allowed = 1 - CALLS_PERCENTILE / 100;
  const failing = judgeShare([{ samples, hits: missed }], allowed, chance);
  const passing = judgeShare([{ samples, hits: missed + unknown }], allowed, chance);
  const verdict =
    failing.verdict === 'FAIL' ? 'FAIL' : passing.verdict === 'PASS' ? 'PASS' : 'NOT PROVEN';
  const rankOf = (rank: number | undefined): number | null => paths[(rank ?? 0) - 1] ?? null;
  const range: [number | null, number | null] = [
    rankOf(rankBelow(CALLS_PERCENTILE, paths.length)),
    rankOf(rankAbove(CALLS_PERCENTILE, paths.length)),
  ];
  const measured = findPercentile(paths, CALLS_PERCENTILE) ?? null;
  return {
    ...row,
    measured,
    bound95: range[1],
    range95: range,
    samples,
    verdict,
    reason: `${said(measured, paths.at(-1), { met, missed, samples })}${verdict === 'NOT PROVEN' ? ` Not proven: ${why(unknown, samples, passing.because)}.` : ''}`,
  };
}

function said(
  measured: number | null,
  slowest: number | undefined,
  { met, missed, samples }: { met: number; missed: number; samples: number },
): string {
  if (samples === 0) return 'No call was held whose latency could be measured.';
  const p95 =
    measured === null
      ? 'The way of the audio could not be measured'
      : `The way of the audio is ${seconds(measured)} at p95 over calls, ${seconds(slowest ?? 0)} at most`;
  const strict = missed === 0 ? '' : `; ${missed} of ${samples} calls missed it`;
  return `${p95}${strict}. Half of the turns came in time in ${met} of ${count(samples, 'call')}.`;
}

function why(unknown: number, samples: number, because: string | undefined): string {
  if (samples === 0) return 'there was no call';
  if (unknown * 2 > samples) return 'buffering inside the agent is not visible';
  return because ?? 'it is too near to the bound to tell';
}
