import type { Outcome, SessionStatus } from '../store/store.ts';

/** Whether a session as a whole passed. Ours: the interface counts outcomes and goes no further. */
export type Verdict = 'passed' | 'failed' | 'undecided';

/**
 * Failed as soon as a required eval fails. Passed when the session is completed, an eval passed, and
 * no required one failed or errored: an error proves nothing, so it turns no session green.
 */
export function decideVerdict(session: {
  status: SessionStatus;
  outcomes: readonly Pick<Outcome, 'outcome' | 'required'>[];
}): Verdict {
  const { status, outcomes } = session;
  const required = outcomes.filter((one) => one.required);
  if (required.some(({ outcome }) => outcome === 'fail')) return 'failed';
  if (status !== 'completed') return 'undecided';
  const isProven = required.every(({ outcome }) => outcome === 'pass');
  return isProven && outcomes.some(({ outcome }) => outcome === 'pass') ? 'passed' : 'undecided';
}
