import type { ProblemReporting } from '../background/reported-problems.ts';
import { aboutExporter } from '../exporters/exporter-name.ts';
import type { RejectedRequests } from '../exporters/rejected-requests.ts';

/** Counts and reports requests without a valid API key, for users who wonder where their data is. */
export interface UnauthorizedCallers {
  /**
   * Counts a request for the service's own owner. Adds the first request of a series with the same
   * problem to the ingest log, at most once a minute for each problem. Never rejects.
   * @param problem What is wrong with the key, without the key: one of a few fixed texts.
   * @param exporter The program that sent the request (see `readExporter`).
   */
  recordRejected(problem: string, exporter: string): Promise<void>;
  /** Ends the series: a request with a valid key arrived. */
  recordAccepted(): void;
  /** Forgets the series. */
  clear(): void;
}

/** Where unauthorized callers are counted and reported. */
interface UnauthorizedCallersOptions extends ProblemReporting {
  rejectedRequests: Pick<RejectedRequests, 'count'>;
  /** Name of the service's own owner. */
  ownerName: string;
  /** Lowercase name of the header with the API key. */
  apiKeyHeader: string;
}

const REPORT_INTERVAL_MS = 60_000;

/** Creates the reporter of unauthorized callers. */
export function createUnauthorizedCallers(
  options: UnauthorizedCallersOptions,
): UnauthorizedCallers {
  const { store, rejectedRequests, reportedProblems, clock, log, ownerName, apiKeyHeader } =
    options;
  let ownerId: string | undefined;
  /** The problem of the current series. */
  let current: string | undefined;
  return {
    async recordRejected(problem, exporter) {
      const isInSeries = current === problem;
      current = problem;
      const cause =
        `${apiKeyHeader} must contain an API key: ${problem}. Exporters send the header when ` +
        'OTEL_EXPORTER_OTLP_HEADERS is set.';
      try {
        ownerId ??= await store.owners.ensure(ownerName);
        rejectedRequests.count(ownerId, { status: 401, message: cause }, exporter);
        if (isInSeries) return;
        const kind = ['unauthorized', ownerId, problem];
        if (!(await reportedProblems.claim(kind, REPORT_INTERVAL_MS))) return;
        const message =
          `Rejected with 401: ${cause} Only the first of consecutive requests with this problem is ` +
          'reported.';
        const about = { header: apiKeyHeader, status: 401, ...aboutExporter(exporter) };
        const note = { level: 'error', code: 'unauthorized', message, about } as const;
        await store.ingestLog.add(ownerId, clock.nowMs(), [note]);
      } catch {
        // The caller gets the 401 in any case.
        log.error('ingest_log_failed', { rejected: 'unauthorized' });
      }
    },
    recordAccepted() {
      current = undefined;
    },
    clear() {
      ownerId = undefined;
      current = undefined;
    },
  };
}
