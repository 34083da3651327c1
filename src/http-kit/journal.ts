import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isoTime, type Clock } from '../platform/clock.ts';
import type { RequestSummary } from './request-summary.ts';
import { roundTo } from '../platform/round.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** When the request arrived, on the monotonic clock. */
    startedMs: number;
  }
}

/** A request and its response. Headers are not recorded, because they contain keys. */
export interface JournalEntry {
  method: string;
  /** With the query, which `formatEntry` removes. */
  url: string;
  /** HTTP status; 0 when no response was sent. */
  status: number;
  /** Milliseconds since the Unix epoch, when the response was sent. */
  atMs: number;
  durationMs: number;
  /** From the request's `Content-Length`; 0 without one. */
  requestBytes: number;
}

/** Totals of all requests since the start or the last `clear`. */
export interface JournalTotals {
  requests: number;
  /** Requests that got a 5xx or no response. */
  failed: number;
  /** The sum of all durations, in milliseconds. */
  durationMs: number;
}

/** The most recent requests to a server, and the totals of all of them. */
export interface RequestJournal<Entry extends JournalEntry = JournalEntry> {
  record(entry: Entry): void;
  /** Returns the stored entries, oldest first. */
  entries(): Entry[];
  totals: () => JournalTotals;
  clear(): void;
}

const PATH_LENGTH_MAX = 200;

/** Creates a journal that stores the latest `entriesMax` requests in a ring buffer. */
export function createJournal<Entry extends JournalEntry = JournalEntry>(
  entriesMax: number,
): RequestJournal<Entry> {
  let ring: Entry[] = [];
  let totals: JournalTotals = { requests: 0, failed: 0, durationMs: 0 };
  return {
    record(entry) {
      if (entriesMax > 0) ring[totals.requests % entriesMax] = entry;
      totals.requests += 1;
      totals.durationMs += entry.durationMs;
      if (entry.status >= 500 || entry.status === 0) totals.failed += 1;
    },
    entries() {
      const oldest = ring.length < entriesMax ? 0 : totals.requests % entriesMax;
      return [...ring.slice(oldest), ...ring.slice(0, oldest)];
    },
    totals: () => totals,
    clear() {
      ring = [];
      totals = { requests: 0, failed: 0, durationMs: 0 };
    },
  };
}

/** Records the start time of every request to a scope, and calls `record` after its response. */
export function journalRequests(
  scope: FastifyInstance,
  clock: Clock,
  record: (request: FastifyRequest, reply: FastifyReply) => void,
): void {
  scope.decorateRequest('startedMs', 0);
  scope.addHook('onRequest', (request, _reply, done) => {
    request.startedMs = clock.monotonicMs();
    done();
  });
  scope.addHook('onResponse', (request, reply, done) => {
    record(request, reply);
    done();
  });
}

/** Returns the journal entry of a request whose response was just sent. */
export function createEntry(
  clock: Clock,
  request: FastifyRequest,
  reply: FastifyReply,
): JournalEntry {
  return {
    method: request.method,
    url: request.url,
    status: reply.raw.headersSent ? reply.statusCode : 0,
    atMs: clock.nowMs(),
    durationMs: clock.monotonicMs() - request.startedMs,
    requestBytes: Number(request.raw.headers['content-length'] ?? 0),
  };
}

/** Returns an entry as `/__admin/requests` shows it. */
export function formatEntry(entry: JournalEntry): RequestSummary {
  const [path = ''] = entry.url.split('?', 1);
  return {
    method: entry.method,
    path: path.slice(0, PATH_LENGTH_MAX),
    status: entry.status,
    at: isoTime(entry.atMs),
    duration_ms: roundTo(entry.durationMs, 3),
    request_bytes: entry.requestBytes,
  };
}
