import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { Store } from '../store/store.ts';

/** Reports requests without a valid API key in the ingest log, for users who wonder where their data is. */
export interface UnauthorizedCallers {
  /**
   * Adds the first request of a series with the same problem to the ingest log of the service's own
   * owner, at most once a minute for each problem. Never rejects.
   * @param problem What is wrong with the key, without the key: one of a few fixed texts.
   */
  recordRejected(problem: string): Promise<void>;
  /** Ends the series: a request with a valid key arrived. */
  recordAccepted(): void;
  /** Forgets the series and what was reported. */
  clear(): void;
}

export interface UnauthorizedCallersOptions {
  store: Pick<Store, 'ingestLog' | 'owners'>;
  clock: Clock;
  log: Log;
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
  const { store, clock, log, ownerName, apiKeyHeader } = options;
  /** The problem of the current series. */
  let current: string | undefined;
  const reportedAtMs = new Map<string, number>();
  return {
    async recordRejected(problem) {
      const nowMs = clock.monotonicMs();
      const earlierMs = reportedAtMs.get(problem) ?? -Infinity;
      if (current === problem || nowMs - earlierMs < REPORT_INTERVAL_MS) return;
      current = problem;
      reportedAtMs.set(problem, nowMs);
      const message =
        `Rejected with 401: ${apiKeyHeader} must contain an API key: ${problem}. Exporters send ` +
        'the header when OTEL_EXPORTER_OTLP_HEADERS is set. Only the first of consecutive ' +
        'requests with this problem is reported.';
      const about = { header: apiKeyHeader, status: 401 };
      try {
        const ownerId = await store.owners.ensure(ownerName);
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
      current = undefined;
      reportedAtMs.clear();
    },
  };
}
