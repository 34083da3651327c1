import type { Session } from '../store/store.ts';

/**
 * The page of a session (spec 2.4, 2.5); null when its simulation was deleted.
 * @param appUrl Base of the deep links, without a slash at the end.
 */
export function makeDeepLink(session: Session & { kind: 'production' }, appUrl: string): string;
export function makeDeepLink(session: Session, appUrl: string): string | null;
export function makeDeepLink(
  { id, kind, run, simulation }: Session,
  appUrl: string,
): string | null {
  if (kind === 'production') return `${appUrl}/production-eval/${enc(run?.id ?? '')}${query(id)}`;
  if (!simulation || simulation.deleted) return null;
  return `${appUrl}/simulation/${enc(simulation.id)}${query(id)}`;
}

const enc = encodeURIComponent;
const query = (sessionId: string): string => `?sessionId=${enc(sessionId)}`;
