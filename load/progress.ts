/** The progress of a load test. */
export interface LoadProgress {
  phase: 'preflight' | 'warm-up' | 'ramp' | 'window' | 'drain';
  /** Requests of the main stream sent in the last second. */
  perSecond: number;
  inFlight: number;
  p50Ms: number | null;
  p99Ms: number | null;
  errors: number;
  /** For a run with calls only: connected calls, and received packets per second. */
  calls?: { up: number; packetsPerSecond: number };
  /** For a search only: the rate, or the number of calls, of the step; null before the first step. */
  search?: { perSecond: number | null } | { calls: number | null };
  /** Milliseconds until the steady state ends; in a search, that of the step. */
  leftMs: number;
}

/** Returns whether a run measures what its report covers: before the steady state, only calls. */
export const isMeasuring = ({ phase, calls }: LoadProgress): boolean =>
  phase === 'window' || phase === 'drain' || calls !== undefined;
