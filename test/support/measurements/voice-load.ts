import { execFileSync } from 'node:child_process';
import { findViolations, type LoadReport, type VoiceLoad } from '../../../src/contract/index.ts';
import type { LoadRun } from '../../../load/index.ts';
import { fetchCalls } from '../calls/caller.ts';
import { runLoad } from './run-load.ts';
import { until } from '../until.ts';

/** Limits that no machine exceeds, so that the verdict depends on the sandbox only. */
const ANY_CALLERS = { sendLateP99MsMax: 1e9, loopLateP99MsMax: 1e9, cpuPercentMax: 1e9 };

/** Runs a short load test with three calls. */
export async function runVoiceLoad(
  sandbox: string,
  over: Partial<LoadRun> = {},
  voice: Partial<NonNullable<LoadRun['voice']>> = {},
): Promise<LoadReport> {
  const report = await runLoad(sandbox, {
    profile: 'voice',
    windowMs: 3_000,
    voice: { calls: 3, callsPerSecond: 20, callerLimits: ANY_CALLERS, ...voice },
    ...over,
  });
  const errors = findViolations('LoadReport', report);
  if (errors.length > 0) throw new Error(`Not a LoadReport: ${JSON.stringify(errors)}`);
  return report;
}

/** Returns the voice section of a report. */
export function getVoice({ voice }: LoadReport): NonNullable<LoadReport['voice']> {
  if (!voice) throw new Error('The report has no voice section.');
  return voice;
}

/** Waits until all calls of an agent have ended. */
export const waitForNoCalls = (url: string): Promise<void> =>
  until('all calls have ended', async () =>
    (await fetchCalls(url)).every(({ state }) => state === 'over'),
  );

/** Returns the ids of the caller processes that a process started. */
export function findCallerProcesses(parentPid = process.pid): number[] {
  const processes = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' });
  return processes.split('\n').flatMap((line) => {
    const [, pid, parent, args = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return Number(parent) === parentPid && args.includes('caller-process') ? [Number(pid)] : [];
  });
}

/** Creates the voice section of two calls, of which the second failed with this message. */
export function createTwoCallVoice(failure: string): VoiceLoad {
  const times = { p50: 20, p90: 30, p95: 31, p99: 33, max: 1_000, mean: 21 };
  const unmeasured = {
    setupMs: null,
    audioPathLatencyMs: null,
    turnResponseMs: null,
    lostPackets: 0,
  };
  const second = { up: 1, sent: 50, received: 49, gaps: 1, sendLateMaxMs: 3 };
  return {
    calls: 2,
    connected: 1,
    held: 1,
    lost: 0,
    errors: { no_path: 1 },
    latencyVerdicts: { met: 1, missed: 0, notProven: 0 },
    readyMs: times,
    setupMs: times,
    firstPacketMs: times,
    audioPathLatencyMs: times,
    roundTripMs: times,
    jitterMs: times,
    turnResponseMs: times,
    turns: 9,
    unansweredTurns: 1,
    packets: { sent: 150, received: 147, lost: 3, reordered: 0, gaps: 3, longestGapMs: 61 },
    callers: {
      processes: 1,
      ended: 0,
      cpuPercent: 3,
      loopLateP99Ms: 1,
      sendLateP99Ms: 2,
      sendLateMaxMs: 3,
    },
    perCall: [
      { call: 0, verdict: 'PASS', reason: 'path 24 ms.', ...unmeasured, audioPathLatencyMs: 24 },
      { call: 1, verdict: 'FAIL', reason: failure, fault: 'no_path', ...unmeasured },
    ],
    faultSamples: [{ kind: 'no_path', call: 1, atMs: -3_000, session: 'sk_1', detail: failure }],
    timeline: [-1, 0, 1].map((nth) => ({ second: nth, ...second })),
  };
}
