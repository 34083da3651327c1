import type { Session } from '../store/records.ts';

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
