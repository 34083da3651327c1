import { isBroken, isConnectionFailure, type Exchange } from '../transcript/reading.ts';

/** Decides which failed requests are sent again, alone. */
export interface RepetitionPolicy {
  /** Returns whether to send the request of a failed exchange again, and counts it. */
  allows(failed: Exchange): boolean;
  /** Notes how the repetition ended. */
  note(failed: Exchange, repetition: Exchange): void;
}

/** Maximum number of failed requests that a run sends again. */
export const REPETITIONS_MAX = 24;
/** Each repetition of a request that timed out may wait for the whole timeout. */
const TIMEOUT_REPETITIONS_MAX = 4;
/** An endpoint that fails as often for requests that are sent again always fails. */
const FAILURES_IN_A_ROW_MAX = 4;

/**
 * Creates the policy of a run. A failed request is sent again to find out whether it fails by itself or
 * only together with other requests. Any request can crash a peer. A server error or a timeout says
 * something only if the specification defines the response.
 */
export function createRepetitionPolicy(): RepetitionPolicy {
  const failuresInARow = new Map<string, number>();
  let left = REPETITIONS_MAX;
  let timeoutsLeft = TIMEOUT_REPETITIONS_MAX;
  const keyOf = ({ endpoint, intent }: Exchange): string => `${endpoint} ${intent}`;
  return {
    allows(failed) {
      const isTimeout = failed.failure?.kind === 'timeout';
      if (!mayFailByChance(failed) || left === 0 || (isTimeout && timeoutsLeft === 0)) return false;
      if ((failuresInARow.get(keyOf(failed)) ?? 0) >= FAILURES_IN_A_ROW_MAX) return false;
      left--;
      if (isTimeout) timeoutsLeft--;
      return true;
    },
    note(failed, repetition) {
      const key = keyOf(failed);
      failuresInARow.set(key, isBroken(repetition) ? (failuresInARow.get(key) ?? 0) + 1 : 0);
    },
  };
}

function mayFailByChance(exchange: Exchange): boolean {
  const { endpoint, intent } = exchange;
  if (endpoint === 'voice' || !isBroken(exchange)) return false;
  if (isConnectionFailure(exchange)) return true;
  // A health report may have the status 500 or 503, and must arrive in time at the first attempt.
  if (endpoint === 'health') return false;
  return intent !== 'open';
}
