import type { Clock } from '../../platform/clock.ts';
import { forgetOldest } from '../../platform/forget-oldest.ts';
import type { RequestError } from '../requests/errors.ts';

/** The requests of programs that were rejected since the service started, or was reset. */
export interface Rejections {
  /** How many, by HTTP status. */
  counts: ReadonlyMap<number, number>;
  newest: { atMs: number; status: number; message: string; exporter: string };
}

/** Counts rejected requests. The ingest log has only the first of a series with the same problem. */
export interface RejectedRequests {
  /** @param exporter The program that sent the request (see `readExporter`). */
  count(ownerId: string, problem: Pick<RequestError, 'status' | 'message'>, exporter: string): void;
  /** Returns undefined if no request of the owner was rejected. */
  find(ownerId: string): Rejections | undefined;
  clear(): void;
}

/** The owners whose requests are counted. With more, the oldest is forgotten. */
const OWNERS_MAX = 1_000;

/** Creates the counts of a service. */
export function createRejectedRequests(clock: Clock): RejectedRequests {
  const byOwner = new Map<string, { counts: Map<number, number>; newest: Rejections['newest'] }>();
  return {
    count(ownerId, { status, message }, exporter) {
      const counts = byOwner.get(ownerId)?.counts ?? new Map<number, number>();
      counts.set(status, (counts.get(status) ?? 0) + 1);
      byOwner.set(ownerId, { counts, newest: { atMs: clock.nowMs(), status, message, exporter } });
      forgetOldest(byOwner, OWNERS_MAX);
    },
    find: (ownerId) => byOwner.get(ownerId),
    clear: () => byOwner.clear(),
  };
}
