import type { InFlightTrend, LoadPlan, StreamName } from '../../src/contract/index.ts';
import type { Block } from '../record/blocks.ts';
import type { Times } from './percentile.ts';

/** Response times of a stream, and those that miss a limit. */
export interface ResponseTimes {
  response: Times;
  /** Samples, and those that missed the limit, by stretches of time. */
  misses: readonly Block[];
}

/** Measurements of one stream of requests. */
export interface StreamMeasurements extends ResponseTimes {
  /** Requests that were due. */
  offered: number;
  /** Responses that contained a session id. */
  echoed: number;
  /** Requests, and those that failed, by stretches of time. */
  failures: readonly Block[];
  errors: Readonly<Record<string, number>>;
}

/** Measurements of the requests of a run. */
export interface RequestMeasurements {
  plan: LoadPlan;
  /** The part of the steady state that was run. */
  ranMs: number;
  streams: ReadonlyMap<StreamName, StreamMeasurements>;
  /** The trend of the chat requests in flight; undefined without chat. */
  trend: InFlightTrend | undefined;
}
