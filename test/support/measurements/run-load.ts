import { findBrokenMusts } from '../../../conformance/index.ts';
import { load, type LoadRun } from '../../../load/index.ts';
import { completeRun } from '../../../load/load-run.ts';
import type { LoadReport, LoadTarget } from '../../../src/contract/index.ts';
import { systemClock } from '../../../src/platform/clock.ts';

/** Limits that no machine exceeds, so that the verdict depends on the sandbox only. */
const ANY_GENERATOR = {
  lagP99MsMax: 1e9,
  lagMsMax: 1e9,
  loopBusyMax: 1,
  cpuPercentMax: 1e9,
};

/** Returns options of a short run without warm-up that is valid even on a busy machine. */
export function loadOptions(sandbox: string, over: Partial<LoadRun> = {}): LoadRun {
  return completeRun({
    sandbox,
    kitVersion: '0.1.0',
    seed: 'test',
    clock: systemClock,
    profile: 'chat',
    ratePerSecond: 50,
    simulatedUsers: 5,
    windowMs: 2_000,
    warmUpMs: 0,
    apiKey: undefined,
    ca: undefined,
    generatorLimits: ANY_GENERATOR,
    validateResponse: findBrokenMusts,
    preflight: () => Promise.resolve({ hasUsers: true }),
    onTick: () => {},
    signal: new AbortController().signal,
    ...over,
  });
}

/** Runs a short load test. */
export const runLoad = (sandbox: string, over: Partial<LoadRun> = {}): Promise<LoadReport> =>
  load(loadOptions(sandbox, over));

/** Returns a target of a report. */
export function findTarget({ targets }: LoadReport, id: LoadTarget['id']): LoadTarget {
  const target = targets.find((row) => row.id === id);
  if (!target) throw new Error(`The report has no target ${id}.`);
  return target;
}

/** Returns the verdict of each tested target. */
export const testedVerdicts = ({ targets }: LoadReport): Record<string, string> =>
  Object.fromEntries(
    targets
      .filter(({ verdict }) => verdict !== 'NOT TESTED')
      .map(({ id, verdict }) => [id, verdict]),
  );

/** Blocks the event loop. */
export function blockEventLoop(ms: number): void {
  const untilMs = systemClock.monotonicMs() + ms;
  while (systemClock.monotonicMs() < untilMs);
}

/** Returns the percentiles and the mean of the response times of chat in milliseconds. */
export function readLatencies({
  chat,
}: LoadReport): Record<'p50' | 'p90' | 'p99' | 'mean', number> {
  const { p50, p90, p99, mean } = chat?.latencyMs ?? {};
  return { p50: p50 ?? NaN, p90: p90 ?? NaN, p99: p99 ?? NaN, mean: mean ?? NaN };
}
