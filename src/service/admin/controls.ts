import type { ServiceFault, SessionVerdict } from '../../contract/index.ts';
import type { FaultStatus } from '../../http-kit/faults.ts';
import type { RequestSummary } from '../../http-kit/request-summary.ts';

/** An entry of the ingest log, about data that was dropped, ignored, late, or rejected. */
export interface IngestLogLine {
  /** ISO 8601 time on the service clock. */
  at: string;
  level: 'info' | 'warn' | 'error';
  /** A stable code, for example `no_conversation_id`. */
  code: string;
  /** What happened, and how to fix it. */
  message: string;
  /** Ids, attribute names, and counts. Never conversation text. */
  about: Readonly<Record<string, string | number>>;
}

/**
 * The test controls of a service, for the owner of its first key. The routes under `/__admin` do the
 * same over HTTP.
 */
export interface ServiceControls {
  /**
   * Resolves when nothing is queued or running: all evals are scored, all simulations have ended.
   * Rejects after two minutes with a SandboxKitError `timeout`, which names the work that is left.
   */
  drain(): Promise<void>;
  /** Returns the newest 500 sessions with their verdicts, newest first. */
  sessions(): Promise<SessionVerdict[]>;
  /**
   * Advances the service clock, and resolves when the work that became due is done, such as the
   * close of idle conversations after 24 h. Rejects with a TypeError unless `ms` is a whole number of 0 or more.
   */
  advance(ms: number): Promise<void>;
  /** Replaces all faults. @throws {TypeError} about the first invalid fault. */
  setFaults(faults: readonly ServiceFault[]): void;
  /** Adds a fault. @throws {TypeError} if it is invalid, or too many are set. */
  addFault(fault: ServiceFault): void;
  /** Removes all faults. */
  clearFaults(): void;
  /** Returns the current faults, with the number of times that each was injected. */
  faults(): FaultStatus<ServiceFault>[];
  /** Returns the latest 1000 requests, oldest first. */
  requests(): RequestSummary[];
  /** Deletes the recorded requests. */
  clearRequests(): void;
  /** Returns the newest 1000 entries of the ingest log, newest first. */
  ingestLog(): Promise<IngestLogLine[]>;
  /** Restores the seed data, or deletes all data. Keeps the keys and the time of the clock. */
  reset(to: 'seed' | 'empty'): Promise<void>;
}
