import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { Store } from '../store/store.ts';

/** Notes requests that nobody's key came with, where one asks why nothing appears. */
export interface UnauthorizedCallers {
  /**
   * Puts the first of a row into the ingest log of the service's own owner, and no more than one a
   * minute. Never rejects. `what` is wrong with the key, without the key.
   */
  recordRejected(what: string): Promise<void>;
  /** A request with a key ends the row. */
  recordAccepted(): void;
  /** Takes whatever comes next for the first. */
  clear(): void;
}

/** What they are noted with. */
export interface UnauthorizedCallersDeps {
  store: Pick<Store, 'ingestLog' | 'owners'>;
  clock: Clock;
  log: Log;
  /** Name of the service's own owner. */
  ownerName: string;
  /** Lower-case name of the header that holds the key. */
  apiKeyHeader: string;
}

const noteEveryMs = 60_000;

/** Notes of strangers. */
export function createUnauthorizedCallers(deps: UnauthorizedCallersDeps): UnauthorizedCallers {
  const { store, clock, log, ownerName, apiKeyHeader } = deps;
  let isInRow = false;
  let notedAtMs = -Infinity;
  return {
    async recordRejected(what) {
      if (isInRow || clock.monotonicMs() - notedAtMs < noteEveryMs) return;
      isInRow = true;
      notedAtMs = clock.monotonicMs();
      const message =
        `Refused with 401: ${apiKeyHeader} must hold an API key; ${what}. Exporters send it by ` +
        'OTEL_EXPORTER_OTLP_HEADERS. Of a row of such requests, this is the first.';
      const about = { header: apiKeyHeader, status: 401 };
      try {
        const ownerId = await store.owners.ensure(ownerName);
        const note = { level: 'error', code: 'unauthorized', message, about } as const;
        await store.ingestLog.add(ownerId, clock.nowMs(), [note]);
      } catch {
        // The refusal is told to its caller all the same.
        log.error('ingest_log_failed', { refused: 'unauthorized' });
      }
    },
    recordAccepted() {
      isInRow = false;
    },
    clear() {
      isInRow = false;
      notedAtMs = -Infinity;
    },
  };
}
