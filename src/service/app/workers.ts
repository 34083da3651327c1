import { systemClock } from '../../platform/clock.ts';
import { randomSeed, seededRandom } from '../../platform/random.ts';
import type { ModelEndpoint } from '../model/endpoint.ts';
import type { ScoreEval } from '../operations/dry-run.ts';
import { createErroredEvals } from '../scoring/errored-evals.ts';
import { scoreSession } from '../scoring/eval-kinds.ts';
import { startJobRunner, type JobRunner } from '../scoring/job-runner.ts';
import { createJudge } from '../scoring/judge.ts';
import { findScoredSession, holdScorable, readScoredSessions } from '../sessions/transcripts.ts';
import {
  startSimulationRunner,
  type SimulationRunner,
  type SimulationRunnerOptions,
} from '../simulator/simulations/runner.ts';
import type { Base } from './base.ts';
import type { Replica } from './replicas.ts';
import { scoreUnansweredCall } from './score-unanswered-call.ts';

/** What scores sessions. */
export interface Scoring {
  jobRunner: JobRunner;
  /** Starts scoring what was queued, on all replicas. */
  wake: () => void;
  /** Scores a session with an eval, for dry runs. */
  scoreEval: ScoreEval;
  /** Whether an LLM judge is configured for evals of kind `judge`. */
  hasJudge: boolean;
}

/** Starts the worker that scores sessions. */
export function startScoring(
  base: Base,
  options: { judge: ModelEndpoint | undefined; randomSeed: string },
): Scoring {
  const { store, clock, log, replica, counters } = base;
  const random = seededRandom(options.randomSeed).fork('judge');
  // The LLM judge responds in real time, even if the service clock was changed.
  const judge = options.judge && createJudge({ ...options.judge, clock: systemClock, random });
  const jobRunner = startJobRunner({
    store,
    judge,
    finished: counters.jobs,
    clock,
    log,
    erroredEvals: createErroredEvals(base),
    readSession: (ownerId, sessionId) => findScoredSession(store, ownerId, sessionId),
    readSessions: (ownerId, sessionIds) => readScoredSessions(store, ownerId, sessionIds),
    holdMemory: (ownerId, sessionId) => holdScorable(store, ownerId, sessionId),
    worker: `service-${randomSeed()}`,
    isShared: replica !== undefined,
  });
  listen(replica, 'jobs', jobRunner);
  return {
    jobRunner,
    wake() {
      jobRunner.wake();
      replica?.publish('jobs');
    },
    scoreEval: (definition, session, signal) => scoreSession(definition, session, judge, signal),
    hasJudge: judge !== undefined,
  };
}

/** Starts the worker that runs simulations. */
export function startSimulations(
  { store, clock, log, replica }: Base,
  options: Pick<SimulationRunnerOptions, 'userModel' | 'speech' | 'transcription' | 'onStored'>,
): SimulationRunner {
  const sharing = replica &&
    store.replicas && {
      leases: store.replicas.simulationLeases,
      wakeOthers: () => replica.publish('simulations'),
    };
  const simulator = startSimulationRunner({
    store,
    clock,
    log,
    sharing,
    ...options,
    scoreUnanswered: scoreUnansweredCall,
  });
  listen(replica, 'simulations', simulator);
  return simulator;
}

/** Wakes a worker when another replica has published that there is work. */
function listen(
  replica: Replica | undefined,
  topic: 'jobs' | 'simulations',
  worker: { wake: () => void },
): void {
  replica?.onPublished((published) => {
    if (published === topic) worker.wake();
  });
}
