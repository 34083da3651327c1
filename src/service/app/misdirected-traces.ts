import type { IncomingMessage } from 'node:http';
import type { ProblemReporting } from '../background/reported-problems.ts';
import { aboutExporter } from '../exporters/exporter-name.ts';

/** Reports traces that were sent to an unknown path in the ingest log, for users who miss them. */
export interface MisdirectedTraces {
  /**
   * Adds a request to the ingest log of the service's own owner, at most once a minute. Never rejects.
   * @param problem Names the path, without its query.
   * @param exporter The program that sent the request (see `readExporter`).
   */
  record(problem: string, exporter: string): Promise<void>;
}

const REPORT_INTERVAL_MS = 60_000;

/** Creates the reporter of misdirected traces. @param ownerName Name of the service's own owner. */
export function createMisdirectedTraces(
  { store, reportedProblems, clock, log }: ProblemReporting,
  ownerName: string,
): MisdirectedTraces {
  return {
    async record(problem, exporter) {
      const message =
        `Rejected with 404: ${problem} Exporters add /v1/traces to OTEL_EXPORTER_OTLP_ENDPOINT, ` +
        'but not to OTEL_EXPORTER_OTLP_TRACES_ENDPOINT. At most one such request a minute is reported.';
      try {
        const ownerId = await store.owners.ensure(ownerName);
        const isDue = await reportedProblems.claim(['unknown_route', ownerId], REPORT_INTERVAL_MS);
        if (!isDue) return;
        const about = { status: 404, ...aboutExporter(exporter) };
        const note = { level: 'error', code: 'unknown_route', message, about } as const;
        await store.ingestLog.add(ownerId, clock.nowMs(), [note]);
      } catch {
        // The caller gets the 404 in any case.
        log.error('ingest_log_failed', { rejected: 'unknown_route' });
      }
    },
  };
}

/** Returns whether a request for an unknown path is probably an export of traces. */
export function looksLikeTraces({ method, url = '', headers }: IncomingMessage): boolean {
  const path = url.replace(/\?.*$/s, '');
  const type = headers['content-type'] ?? '';
  return method === 'POST' && (/\/traces?\/?$/i.test(path) || /protobuf|otlp/i.test(type));
}
