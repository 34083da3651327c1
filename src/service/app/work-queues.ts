import type { Clock } from '../../platform/clock.ts';
import { TRACES_BUSY_MESSAGE } from '../ingest/route.ts';
import { createWorkQueue, type WorkQueue } from '../requests/work-queue.ts';

/** The kinds of requests. Each kind waits for the database in a separate queue. */
export type WorkKind = 'traces' | 'results' | 'pages';

export type WorkQueues = Readonly<Record<WorkKind, WorkQueue>>;

/** Exporters and readers wait for 10 s, but people give up sooner. */
const WAIT_MS_MAX = 1_000;

/** Twice what the ingest thread writes in one commit, so that it never waits for requests. */
const TRACES_RUNNING_MAX = 128;

/** More than the connections to PostgreSQL, because a request also does other work. */
const READS_RUNNING_MAX = 64;

/** Creates the queues of a service. @param machineClock Requests arrive in real time. */
export function createWorkQueues(machineClock: Clock): WorkQueues {
  const reads = { runningMax: READS_RUNNING_MAX, mayBlock: true, waitMsMax: WAIT_MS_MAX };
  return {
    traces: createWorkQueue(machineClock, {
      runningMax: TRACES_RUNNING_MAX,
      // Another thread does the work.
      mayBlock: false,
      waitMsMax: WAIT_MS_MAX,
      message: TRACES_BUSY_MESSAGE,
    }),
    results: createWorkQueue(machineClock, {
      ...reads,
      message: 'The service is reading too many results right now. Send the request again.',
    }),
    pages: createWorkQueue(machineClock, {
      ...reads,
      message: 'The service is showing too many pages right now. Reload the page.',
    }),
  };
}
