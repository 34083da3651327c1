import type { Outcome, SessionStatus, Verdict } from '../store/records.ts';

/**
 * Returns the verdict of a session. It fails as soon as a required eval fails. It passes when it is
 * completed, at least one eval passed, and every required eval passed: an eval that errored proves
 * nothing.
 */
export function decideVerdict(session: {
  status: SessionStatus;
  outcomes: readonly Pick<Outcome, 'outcome' | 'required'>[];
}): Verdict {
  const { status, outcomes } = session;
  const required = outcomes.filter((outcome) => outcome.required);
  if (required.some(({ outcome }) => outcome === 'fail')) return 'failed';
  if (status !== 'completed') return 'undecided';
  const isProven = required.every(({ outcome }) => outcome === 'pass');
  return isProven && outcomes.some(({ outcome }) => outcome === 'pass') ? 'passed' : 'undecided';
}
