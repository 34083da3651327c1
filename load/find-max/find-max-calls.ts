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
  /** Calls that the sandbox had not closed when the step ended. */
  unclosedCalls: number;
}

/**
 * Finds the most concurrent calls that a sandbox sustains, and returns them with the last report, and
 * why its calls failed if the sandbox may sustain them.
 */
export async function findMaxCalls({ callsMax, runWith }: FindMaxCallsParts): Promise<{
  maxCalls: MaxCalls;
  report: LoadReport | undefined;
  unknownReason: string | undefined;
}> {
  let openCalls = 0;
  let unknownReason: string | undefined;
  const { run, ...maxCalls } = await findConfirmedMaximum<StepRun, CallStep>({
    bounds: { start: CALLS_START, min: CALLS_MIN, max: callsMax, round: Math.round },
    lower: (calls) => (calls > CALLS_MIN ? Math.floor(calls * STEP_DOWN) : undefined),
    load: runWith,
    judge({ report, wasInterrupted, unclosedCalls }) {
      if (wasInterrupted) return undefined;
      const judged = judgeCallStep(report, openCalls);
      openCalls = unclosedCalls;
      unknownReason = judged.obstacle === 'open_calls' ? judged.step.reason : undefined;
      return judged;
    },
    wording,
  });
  return { maxCalls, report: run?.report, unknownReason };
}
