import type { Test } from 'tap';
import {
  startJobRunner,
  type JobRunner,
  type JobRunnerOptions,
} from '../../../src/service/scoring/job-runner.ts';
import type { ScoredSession } from '../../../src/service/sessions/scored-session.ts';
import type { Judge, Score } from '../../../src/service/scoring/score.ts';
import { manualClock, type ManualClock } from '../../../src/platform/manual-clock.ts';
import { createLineLog } from '../services/log-lines.ts';
import { createMemoryJobs, type MemoryJobs } from './memory-jobs.ts';
import { makeEval, makeSession } from './scoring.ts';

/** A job queue, a manual clock, and a function that starts runners with them. */
interface RunnerSetup {
  jobs: MemoryJobs;
  clock: ManualClock;
  /** Every log line as JSON. */
  lines: string[];
  /** Starts a runner, and stops it after the test. */
  start: (options?: Partial<JobRunnerOptions>) => JobRunner;
}

/** A session that passes the evals of `createMemoryJobs`. */
export const shippedSession = makeSession({ agentResponse: 'It has shipped.' });

/** Creates an empty queue and everything else that a runner needs. */
export function setUpRunner(t: Test): RunnerSetup {
  const jobs = createMemoryJobs();
  const clock = manualClock(0);
  const { log, lines } = createLineLog();
  return {
    jobs,
    clock,
    lines,
    start(options = {}) {
      const runner = startJobRunner({
        store: { jobs },
        readSession: () => Promise.resolve(shippedSession),
        judge: undefined,
        clock,
        machineClock: clock,
        log,
        worker: 'w1',
        ...options,
      });
      t.teardown(async () => {
        const stopped = runner.stop();
        await settle();
        clock.advance(10_000);
        await stopped;
      });
      return runner;
    },
  };
}

/** Waits until all work is done except for work that waits for the clock. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** Creates a judge whose scores the test provides, one per request. */
export function createPendingJudge(): {
  judge: Judge;
  /** One unresolved score per request. */
  scores: PromiseWithResolvers<Score>[];
  sessions: string[];
} {
  const scores: PromiseWithResolvers<Score>[] = [];
  const sessions: string[] = [];
  const judge: Judge = {
    score({ session }, signal) {
      const pending = Promise.withResolvers<Score>();
      signal.addEventListener('abort', () => {
        pending.resolve({ outcome: 'error', reasoning: 'canceled' });
      });
      scores.push(pending);
      sessions.push(session.sessionId);
      return pending.promise;
    },
  };
  return { judge, scores, sessions };
}

/** An eval that the LLM judge scores. */
export const judgeEval = makeEval('judge', { criteria: 'It greets.' });
/** A passing score. */
export const pass: Score = { outcome: 'pass', reasoning: 'It greets.' };
/** Returns a session with the requested id. */
export const readSessionById = (_owner: string, sessionId: string): Promise<ScoredSession> =>
  Promise.resolve({ ...shippedSession, sessionId });
/** Rejects with a message that must not be logged. */
export const failToReadSession = (): Promise<never> =>
  Promise.reject(new TypeError('customer said "hello"'));
