import type { Outcome, Session, SessionStatus, Verdict } from '../store/records.ts';

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

/**
 * Returns the URL of a session's page (spec 2.4, 2.5); null when its simulation was deleted.
 * @param appUrl Base URL of the deep links, without a trailing slash.
 */
export function makeDeepLink(session: Session & { kind: 'production' }, appUrl: string): string;
export function makeDeepLink(session: Session, appUrl: string): string | null;
export function makeDeepLink(
  { id, kind, run, simulation }: Session,
  appUrl: string,
): string | null {
  const query = `?sessionId=${encodeURIComponent(id)}`;
  if (kind === 'production') {
    return `${appUrl}/production-eval/${encodeURIComponent(run?.id ?? '')}${query}`;
  }
  if (!simulation || simulation.deleted) return null;
  return `${appUrl}/simulation/${encodeURIComponent(simulation.id)}${query}`;
}
