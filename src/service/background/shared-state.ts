import type { ServiceFault } from '../../contract/index.ts';
import type { ClockOffset } from '../../platform/adjustable-clock.ts';

/** What all replicas of a service share: what tests set, reported problems, and page sessions. */
export interface SharedState {
  clock: ClockOffset;
  faults: SharedFault[];
  /** The newest times that the state in memory was cleared for an owner, numbered from 1. */
  memoryClears: { number: number; ownerId: string }[];
  /** How often the recorded requests were cleared. */
  requestClears: number;
  /** Problems that were reported to users, oldest first. */
  reportedProblems: SharedProblem[];
  /** Signs the cookies and forms of pages. */
  pageSecret: string;
  /** The newest page sessions that were ended, with the times until which their cookies last. */
  endedPageSessions: { nonce: string; expiresAtMs: number }[];
}

/** A problem that was reported to users. */
export interface SharedProblem {
  /** Digest of the problem. */
  key: string;
  /** When it was reported, in `AdjustableClock.runningMs`. */
  reportedAtMs: number;
  /** How often it has occurred since. */
  unreported: number;
}

/** A fault that is set. */
export interface SharedFault {
  fault: ServiceFault;
  /** How many times it was injected, by all replicas. */
  injected: number;
  /** When it ends, in `AdjustableClock.runningMs`; null if it never ends by time. */
  endsAtMs: number | null;
}

/** Shares the state with the other replicas. */
export interface StateSharing {
  /** Changes the state, and resolves when all running replicas have applied it, or after 2 s. */
  change(change: (state: SharedState) => void): Promise<void>;
  /** Changes the state without telling the other replicas, which read it before they depend on it. */
  adjust(change: (state: SharedState) => void): Promise<void>;
  /** Calls back with the state now, and whenever it has changed. */
  onChange(apply: (state: SharedState) => void): void;
}
