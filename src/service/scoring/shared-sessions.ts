import type { ScoredSession } from './scored-session.ts';

/** Reads a session; undefined when it is no longer kept. */
export type ReadSession = (
  ownerId: string,
  sessionId: string,
) => Promise<ScoredSession | undefined>;

/** Several evals score the same session: while it is being read, all wait for the one reading. */
export function sharedReading(sessionOf: ReadSession): ReadSession {
  const reading = new Map<string, ReturnType<ReadSession>>();
  return (ownerId, sessionId) => {
    const name = JSON.stringify([ownerId, sessionId]);
    const known = reading.get(name);
    if (known) return known;
    const session = sessionOf(ownerId, sessionId).finally(() => reading.delete(name));
    reading.set(name, session);
    return session;
  };
}
