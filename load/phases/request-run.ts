import type { LoadPlan } from '../../src/contract/index.ts';
import type { Clock } from '../../src/platform/clock.ts';
import type { LoadProgress } from '../progress.ts';
import type { ValidateExchange } from '../profiles/validate-response.ts';
import type { Traffic } from '../profiles/traffic.ts';
import type { Recorder } from '../record/recorder.ts';
import type { Cost } from '../self-check/meter.ts';

/** Dependencies of every run of requests. */
export interface RequestRunParts {
  clock: Clock;
  traffic: Traffic;
  plan: LoadPlan;
  validateResponse: ValidateExchange;
  /** Removes secrets that the sandbox repeats from the text of a failure. */
  redact: (text: string) => string;
  onTick: (live: LoadProgress) => void;
  /** Stops the run immediately. */
  signal: AbortSignal;
}

/** The measurements of a run of requests. */
export interface RequestRun {
  record: Recorder;
  /** The part of the steady state that was run: all of it unless the run ended early. */
  ranMs: number;
  /** Requests that were due but not sent. */
  missed: number;
  cost: Cost;
  earlyEnd: EarlyEnd | undefined;
  /** The start of the steady state, in Unix milliseconds. */
  windowStartedAtMs: number;
}

/** Why a run ended early. */
export type EarlyEnd =
  | { kind: 'interrupted' | 'full' | 'unreadable' }
  | { kind: 'unauthorized' | 'down'; detail: string };

/** The end of a run, planned or early. */
export interface RunEnd {
  /** Why the run ended early; undefined if it did not. */
  readonly early: EarlyEnd | undefined;
  /** Aborts when the run ends. */
  readonly over: AbortSignal;
  endEarly(reason: EarlyEnd): void;
  /** Ends a run that was not ended before. */
  finish(): void;
}

/** Creates the end of a run, which the caller can also interrupt. */
export function createRunEnd(interrupted: AbortSignal): RunEnd {
  const finished = new AbortController();
  let early: EarlyEnd | undefined;
  const endEarly = (reason: EarlyEnd): void => {
    if (finished.signal.aborted) return;
    early = reason;
    finished.abort();
  };
  const onSignal = (): void => endEarly({ kind: 'interrupted' });
  interrupted.addEventListener('abort', onSignal, { once: true, signal: finished.signal });
  if (interrupted.aborted) onSignal();
  return {
    get early() {
      return early;
    },
    over: finished.signal,
    endEarly,
    finish: () => finished.abort(),
  };
}
