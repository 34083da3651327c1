import type { EvalDefinition } from '../../contract/index.ts';
import type { Outcome } from './store.ts';

/** One eval that is to score one session. */
export interface Job {
  id: number;
  ownerId: string;
  sessionId: string;
  /** The eval as it was when it was queued. */
  definition: EvalDefinition;
  /** 1 for the first. */
  attempt: number;
}

/** A job, and what came out. */
export interface FinishedJob {
  job: Job;
  outcome: Outcome;
}

export interface JobStore {
  /** Takes jobs that are due, for as long as the lease; no other worker gets them meanwhile. */
  take(worker: string, nowMs: number, leaseMs: number, limit: number): Promise<Job[]>;
  /** Holds on to jobs until that time; those that are no longer this worker's stay as they are. */
  renew(worker: string, jobs: readonly Job[], untilMs: number): Promise<void>;
  /**
   * Writes the outcome and, with the last job of a session, its status, in one transaction. False
   * when the job is no longer this worker's: nothing is written then.
   */
  finish(worker: string, job: Job, outcome: Outcome, atMs: number): Promise<boolean>;
  /** The same for several in one transaction: all that are this worker's, or, where it fails, none. */
  finishAll(worker: string, finished: readonly FinishedJob[], atMs: number): Promise<boolean[]>;
  /** Gives a job back, to be taken again at `dueAtMs`. */
  release(worker: string, job: Job, dueAtMs: number): Promise<void>;
  /**
   * Frees what workers of an earlier process hold, and makes due what is queued for later than now,
   * since that process may have had a clock that was moved on. How many there were.
   */
  releaseAll(nowMs: number): Promise<number>;
  /** Jobs that are queued or taken, and when the next may be taken: due, or its lease at an end. */
  getBacklog(): Promise<{ count: number; nextDueAtMs: number | undefined }>;
  /** Of the same, when the next may be taken, however many there are; undefined without any. */
  findNextDueAtMs(): Promise<number | undefined>;
}
