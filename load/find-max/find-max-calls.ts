import type { CallStep, LoadReport, MaxCalls } from '../../src/contract/index.ts';
import { formatCount } from '../../src/report-kit/format.ts';
import { judgeCallStep } from './call-step.ts';
import { STEP_DOWN } from './confirm.ts';
import { findConfirmedMaximum, type RunLength, type SearchWording } from './confirmed-maximum.ts';

const CALLS_START = 10;
const CALLS_MIN = 1;

const wording: SearchWording = {
  quantity: (calls) => formatCount(calls, 'concurrent call'),
  at: (calls) => `with ${calls}`,
  most: 'the most that the search tries',
};

/** Dependencies of a search. */
export interface FindMaxCallsParts {
  /** The most calls that the search tries. */
  callsMax: number;
  /**
   * Places this many calls, and returns their report; undefined if the caller stopped before.
   */
  runWith: (calls: number, length: RunLength) => Promise<StepRun | undefined>;
}

/** The calls of a step. */
export interface StepRun {
  report: LoadReport;
  wasInterrupted: boolean;
}

/** Finds the most concurrent calls that a sandbox sustains, and returns them with the last report. */
export async function findMaxCalls({
  callsMax,
  runWith,
}: FindMaxCallsParts): Promise<{ maxCalls: MaxCalls; report: LoadReport | undefined }> {
  const { run, ...maxCalls } = await findConfirmedMaximum<StepRun, CallStep>({
    bounds: { start: CALLS_START, min: CALLS_MIN, max: callsMax, round: Math.round },
    lower: (calls) => (calls > CALLS_MIN ? Math.floor(calls * STEP_DOWN) : undefined),
    load: runWith,
    judge: ({ report, wasInterrupted }) => (wasInterrupted ? undefined : judgeCallStep(report)),
    wording,
  });
  return { maxCalls, report: run?.report };
}
