import { forgetOldest } from '../../platform/forget-oldest.ts';

/** When traces of an exporter were accepted since the service started, or was reset. */
export interface TraceTimes {
  firstMs: number;
  newestMs: number;
  /** When traces with text were; undefined if none were. */
  newestTextMs: number | undefined;
}

/** When traces of an owner were accepted, by their exporter (see `readExporter`). */
export type TracesByExporter = ReadonlyMap<string, TraceTimes>;

/** A request that stored spans. */
export interface AcceptedRequest {
  receivedAtMs: number;
  exporter: string;
  /** Whether one of its spans has messages. */
  hasText: boolean;
}

/** Remembers when traces were accepted: what a problem of earlier requests is compared with. */
export interface AcceptedTraces {
  record(ownerId: string, request: AcceptedRequest): void;
  /** Returns undefined if no traces of the owner were accepted. */
  find(ownerId: string): TracesByExporter | undefined;
  clear(): void;
}

/** The owners whose traces are remembered, and the exporters of each. With more, the oldest is forgotten. */
const OWNERS_MAX = 1_000;
const EXPORTERS_MAX = 100;

/** Creates the memory of a service. */
export function createAcceptedTraces(): AcceptedTraces {
  const byOwner = new Map<string, Map<string, TraceTimes>>();
  return {
    record(ownerId, { receivedAtMs, exporter, hasText }) {
      const byExporter = byOwner.get(ownerId) ?? new Map<string, TraceTimes>();
      const known = byExporter.get(exporter);
      byExporter.set(exporter, {
        firstMs: known?.firstMs ?? receivedAtMs,
        newestMs: receivedAtMs,
        newestTextMs: hasText ? receivedAtMs : known?.newestTextMs,
      });
      forgetOldest(byExporter, EXPORTERS_MAX);
      byOwner.set(ownerId, byExporter);
      forgetOldest(byOwner, OWNERS_MAX);
    },
    find: (ownerId) => byOwner.get(ownerId),
    clear: () => byOwner.clear(),
  };
}
