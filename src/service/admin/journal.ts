import { isoTime } from '../../platform/clock.ts';

/** A request that came in and how it was answered. Headers are never part of it, so no key is. */
export interface JournalEntry {
  method: string;
  /** With its query, which is not kept. */
  url: string;
  /** HTTP status; 0 when nothing was answered. */
  status: number;
  /** Milliseconds since the Unix epoch, when the answer was out. */
  atMs: number;
  durationMs: number;
  /** As the request's Content-Length says; 0 without one. */
  requestBytes: number;
}

/** The requests that the service saw last. */
export interface Journal {
  record(entry: JournalEntry): void;
  /** How many came in, and the ones that are remembered, oldest first, as the wire has them. */
  view(): { seen: number; requests: Record<string, unknown>[] };
  clear(): void;
}

const pathLengthMax = 200;

/** A journal of at most `entriesMax` requests: a ring, so that recording always costs the same. */
export function createJournal(entriesMax: number): Journal {
  let ring: JournalEntry[] = [];
  let seen = 0;
  return {
    record(entry) {
      if (entriesMax > 0) ring[seen % entriesMax] = entry;
      seen += 1;
    },
    view() {
      const oldest = ring.length < entriesMax ? 0 : seen % entriesMax;
      return { seen, requests: [...ring.slice(oldest), ...ring.slice(0, oldest)].map(entryView) };
    },
    clear() {
      ring = [];
      seen = 0;
    },
  };
}

function entryView(entry: JournalEntry): Record<string, unknown> {
  return {
    method: entry.method,
    path: entry.url.split('?', 1)[0]?.slice(0, pathLengthMax),
    status: entry.status,
    at: isoTime(entry.atMs),
    duration_ms: Math.round(entry.durationMs * 1000) / 1000,
    request_bytes: entry.requestBytes,
  };
}
