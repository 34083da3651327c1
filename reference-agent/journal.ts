import { isoTime } from '../src/platform/clock.ts';

/** A request that came in and how it was answered. Headers are never part of it, so no key is. */
export interface JournalEntry {
  method: string;
  /** Without the query; cut after 200 characters. */
  path: string;
  /** HTTP status; 0 when the connection was dropped. */
  status: number;
  /** Milliseconds since the Unix epoch, when the answer was out. */
  atMs: number;
  durationMs: number;
  /** As the request's Content-Length says; 0 without one. */
  requestBytes: number;
  /** As the answer's Content-Length says; 0 without one. */
  responseBytes: number;
  /** What was said, cut; only where bodies are kept. */
  requestBody: string | undefined;
  responseBody: string | undefined;
}

/** What went through the agent since it started, or was last reset. */
export interface Traffic {
  answered: number;
  /** Answered with a 5xx, or dropped. */
  failed: number;
  /** Milliseconds spent on all of them. */
  totalMs: number;
}

/** The requests that the agent saw last. */
export interface Journal {
  record(entry: JournalEntry): void;
  /** The entries kept, oldest first, as the wire has them. */
  entries(): Record<string, unknown>[];
  traffic: () => Traffic;
  clear(): void;
}

const pathLengthMax = 200;
const bodyLengthMax = 16_384;

/** A journal of at most `entriesMax` requests: a ring, so that recording always costs the same. */
export function createJournal(entriesMax: number): Journal {
  let ring: JournalEntry[] = [];
  let traffic: Traffic = { answered: 0, failed: 0, totalMs: 0 };
  return {
    record(entry) {
      if (entriesMax > 0) ring[traffic.answered % entriesMax] = entry;
      traffic.answered += 1;
      traffic.totalMs += entry.durationMs;
      if (entry.status >= 500 || entry.status === 0) traffic.failed += 1;
    },
    entries() {
      const oldest = ring.length < entriesMax ? 0 : traffic.answered % entriesMax;
      return [...ring.slice(oldest), ...ring.slice(0, oldest)].map(view);
    },
    traffic: () => traffic,
    clear() {
      ring = [];
      traffic = { answered: 0, failed: 0, totalMs: 0 };
    },
  };
}

function view(entry: JournalEntry): Record<string, unknown> {
  const { requestBody, responseBody } = entry;
  return {
    method: entry.method,
    path: entry.path.split('?', 1)[0]?.slice(0, pathLengthMax),
    status: entry.status,
    at: isoTime(entry.atMs),
    duration_ms: Math.round(entry.durationMs * 1000) / 1000,
    request_bytes: entry.requestBytes,
    response_bytes: entry.responseBytes,
    ...(requestBody !== undefined && { request_body: requestBody }),
    ...(responseBody !== undefined && { response_body: responseBody }),
  };
}

/** A body as the journal keeps it. */
export function journalBody(body: string | undefined): string | undefined {
  return body?.slice(0, bodyLengthMax);
}
