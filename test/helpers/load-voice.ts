import { execFileSync } from 'node:child_process';
import { findViolations, type LoadReport, type VoiceLoad } from '../../src/contract/index.ts';
import type { LoadOptions } from '../../load/index.ts';
import { runLoad } from './load.ts';
import { callsOf } from './caller.ts';
import { until } from './until.ts';

/** What no machine exceeds: the verdict is the sandbox's alone, however busy this machine is. */
export const ANY_CALLERS = { sendLateP99MsMax: 1e9, loopLateP99MsMax: 1e9, cpuPercentMax: 1e9 };

/** Some calls for a short while, judged whatever this machine does. */
export async function called(
  sandbox: string,
  over: Partial<LoadOptions> = {},
  voice: Partial<NonNullable<LoadOptions['voice']>> = {},
): Promise<LoadReport> {
  const report = await runLoad(sandbox, {
    profile: 'voice',
    windowMs: 3_000,
    voice: { calls: 3, callsPerSecond: 20, callerLimits: ANY_CALLERS, ...voice },
    ...over,
  });
  const wrong = findViolations('LoadReport', report);
  if (wrong.length > 0) throw new Error(`not a LoadReport: ${JSON.stringify(wrong)}`);
  return report;
}

/** The part of a report that is about calls. */
export function voiceIn({ voice }: LoadReport): NonNullable<LoadReport['voice']> {
  if (!voice) throw new Error('the report has no calls');
  return voice;
}

/** Waits until an agent has no call any more. */
export const untilNoCall = (url: string): Promise<void> =>
  until('no call is left', async () => (await callsOf(url)).every(({ state }) => state === 'over'));

/** The processes that place the calls of a process. */
export function callerProcesses(of = process.pid): number[] {
  const listed = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' });
  return listed.split('\n').flatMap((line) => {
    const [, pid, parent, args = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return Number(parent) === of && args.includes('caller-process') ? [Number(pid)] : [];
  });
}

/** What a report tells of two calls, one of which came to nothing with these words. */
export function twoCalls(words: string): VoiceLoad {
  const times = { p50: 20, p90: 30, p95: 31, p99: 33, max: 1_000, mean: 21 };
  const none = { setupMs: null, audioPathLatencyMs: null, turnResponseMs: null, lostPackets: 0 };
  const second = { up: 1, sent: 50, received: 49, gaps: 1, sendLateMaxMs: 3 };
  return {
    ...{ calls: 2, connected: 1, held: 1, lost: 0, errors: { no_path: 1 } },
    latencyVerdicts: { met: 1, missed: 0, notProven: 0 },
    ...{ readyMs: times, setupMs: times, firstPacketMs: times, audioPathLatencyMs: times },
    ...{ roundTripMs: times, jitterMs: times, turnResponseMs: times },
    ...{ turns: 9, unansweredTurns: 1 },
    packets: { sent: 150, received: 147, lost: 3, reordered: 0, gaps: 3, longestGapMs: 61 },
    callers: {
      ...{ processes: 1, ended: 0, cpuPercent: 3 },
      ...{ loopLateP99Ms: 1, sendLateP99Ms: 2, sendLateMaxMs: 3 },
    },
    perCall: [
      { call: 0, verdict: 'PASS', reason: 'path 24 ms.', ...none, audioPathLatencyMs: 24 },
      { call: 1, verdict: 'FAIL', reason: words, fault: 'no_path', ...none },
    ],
    faultSamples: [{ kind: 'no_path', call: 1, atMs: -3_000, session: 'sk_1', detail: words }],
    timeline: [-1, 0, 1].map((nth) => ({ second: nth, ...second })),
  };
}
