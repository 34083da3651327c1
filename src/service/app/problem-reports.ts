import { createDatabaseProblemLog, type DatabaseProblemLog } from '../background/database-retry.ts';
import { createAcceptedTraces, type AcceptedTraces } from '../exporters/accepted-traces.ts';
import { createRejectedRequests, type RejectedRequests } from '../exporters/rejected-requests.ts';
import type { Base } from './base.ts';
import { createMisdirectedTraces, type MisdirectedTraces } from './misdirected-traces.ts';
import { createUnauthorizedCallers, type UnauthorizedCallers } from './unauthorized-callers.ts';

/** What remembers and reports the problems that callers have with the service. */
export interface ProblemReports {
  rejectedRequests: RejectedRequests;
  acceptedTraces: AcceptedTraces;
  unauthorizedCallers: UnauthorizedCallers;
  misdirectedTraces: MisdirectedTraces;
  /** Problems of the database in requests. */
  databaseProblems: DatabaseProblemLog;
}

/** Not every request that succeeds shows that the database works again. */
const PROBLEM_REPEAT_MS = 60_000;

/** Creates what remembers and reports the problems that callers have with the service. */
export function createProblemReports(
  base: Base,
  { ownerName, apiKeyHeader }: { ownerName: string; apiKeyHeader: string },
): ProblemReports {
  const rejectedRequests = createRejectedRequests(base.clock);
  return {
    rejectedRequests,
    acceptedTraces: createAcceptedTraces(),
    unauthorizedCallers: createUnauthorizedCallers({
      ...base,
      rejectedRequests,
      ownerName,
      apiKeyHeader,
    }),
    misdirectedTraces: createMisdirectedTraces(base, ownerName),
    databaseProblems: createDatabaseProblemLog(base, 'requests', PROBLEM_REPEAT_MS),
  };
}
