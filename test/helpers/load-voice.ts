import { execFileSync } from 'node:child_process';
import { violations, type LoadReport } from '../../src/contract/index.ts';
import type { LoadOptions } from '../../load/index.ts';
import { loaded } from './load.ts';
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
  const report = await loaded(sandbox, {
    profile: 'voice',
    windowMs: 3_000,
    voice: { calls: 3, callsPerSecond: 20, callerLimits: ANY_CALLERS, ...voice },
    ...over,
  });
  const wrong = violations('LoadReport', report);
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
