import { createAcceptedTraces, type AcceptedTraces } from '../exporters/accepted-traces.ts';
import { createDatabaseProblemLog, type DatabaseProblemLog } from '../background/database-retry.ts';
import { createRejectedRequests, type RejectedRequests } from '../exporters/rejected-requests.ts';
import type { ReportedProblems } from '../background/reported-problems.ts';
import type { Base } from './base.ts';
import { createMisdirectedTraces, type MisdirectedTraces } from './misdirected-traces.ts';
import { createUnauthorizedCallers, type UnauthorizedCallers } from './unauthorized-callers.ts';

/** What remembers and reports the problems that callers have with the service. */
export interface ProblemReports {
  rejectedRequests: RejectedRequests;
  acceptedTraces: AcceptedTraces;
  reportedProblems: ReportedProblems;
  unauthorizedCallers: UnauthorizedCallers;
  misdirectedTraces: MisdirectedTraces;
  /** Problems of the database in requests. */
  database: DatabaseProblemLog;
}

/** Not every request that succeeds shows that the database works again. */
const PROBLEM_REPEAT_MS = 60_000;

/** Creates what remembers and reports the problems that callers have with the service. */
export function createProblemReports(
  { store, clock, log }: Base,
  {
    reportedProblems,
    ownerName,
    apiKeyHeader,
  }: {
    reportedProblems: ReportedProblems;
    ownerName: string;
    apiKeyHeader: string;
  },
): ProblemReports {
  const rejectedRequests = createRejectedRequests(clock);
  const reporting = { store, reportedProblems, clock, log, ownerName };
  const callers = { ...reporting, rejectedRequests, apiKeyHeader };
  return {
    rejectedRequests,
    acceptedTraces: createAcceptedTraces(),
    reportedProblems,
    unauthorizedCallers: createUnauthorizedCallers(callers),
    misdirectedTraces: createMisdirectedTraces(reporting),
    database: createDatabaseProblemLog({ log, clock }, 'requests', PROBLEM_REPEAT_MS),
  };
}
