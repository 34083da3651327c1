import type { LoadPlan } from '../../src/contract/index.ts';
import type { LoadSettings } from '../load-run.ts';
import { TURN_MS } from '../phases/plan.ts';
import { sendsRequests } from '../profiles/profiles.ts';

/** What a run sends. */
export interface LoadSize {
  /** Requests, and calls. */
  requests: number;
  /** Requests, and turns of calls, that reach a model. */
  modelCalls: number;
}

/** Sum of the rates of a search: steps of 50% from 10/s to 2000/s, then five in between. */
const RATES_SUM = 12_000;
/** Sum of the calls of a search: steps of 50% from 10 to 1000, then five in between. */
const CALLS_SUM = 6_000;

/** Returns what a run with a plan sends; for a search, an upper bound. */
export function sizeOfRun(plan: LoadPlan, findMax: LoadSettings['findMax']): LoadSize {
  if (!findMax) return plan;
  // The confirmation is at the highest value, which is a sixth of the sum.
  const lengthMs = findMax.stepMs + plan.windowMs / 6;
  if (!sendsRequests(plan.profile)) {
    return { requests: CALLS_SUM, modelCalls: Math.ceil(CALLS_SUM * (lengthMs / TURN_MS)) };
  }
  const requests = Math.ceil((RATES_SUM * lengthMs) / 1_000);
  return { requests, modelCalls: requests };
}
