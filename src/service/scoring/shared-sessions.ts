import type { ScoredSession } from '../sessions/scored-session.ts';

/** Reads a session; undefined if it or its spans no longer exist. */
export type ReadSession = (
  ownerId: string,
  sessionId: string,
) => Promise<ScoredSession | undefined>;

/** Reads sessions of one owner in groups. Leaves out those that have to be read alone. */
export type ReadSessions = (
  ownerId: string,
  sessionIds: readonly string[],
) => AsyncIterable<readonly ScoredSession[]>;

/** Waits until there is memory for a session. Disposing of the result frees it. */
export type HoldMemory = (ownerId: string, sessionId: string) => Promise<Disposable>;

type ReadResult = ReturnType<ReadSession>;

/** A session that an eval scores. Disposing of it frees its memory if no other eval scores it. */
export interface SharedSession extends Disposable {
  /** Resolves when there is memory for the session. */
  hasMemory: Promise<unknown>;
  /** Reads the session. Evals that score it at the same time share one read. */
  read: () => ReadResult;
}

interface Entry {
  users: number;
  held: Promise<Disposable>;
  result: ReadResult | undefined;
}

const noMemory: Disposable = { [Symbol.dispose]: () => undefined };

/** The sessions that are scored now. Several evals score one session, which is read once for them. */
export class SharedSessions {
  readonly #readSession: ReadSession;
  readonly #holdMemory: HoldMemory;
  readonly #entries = new Map<string, Entry>();

  constructor(readSession: ReadSession, holdMemory: HoldMemory = () => Promise.resolve(noMemory)) {
    this.#readSession = readSession;
    this.#holdMemory = holdMemory;
  }

  open(ownerId: string, sessionId: string): SharedSession {
    const key = JSON.stringify([ownerId, sessionId]);
    const entry = this.#entries.get(key) ?? {
      users: 0,
      held: this.#holdMemory(ownerId, sessionId),
      result: undefined,
    };
    this.#entries.set(key, entry);
    entry.users += 1;
    return {
      hasMemory: entry.held,
      read: () => {
        entry.result ??= this.#readSession(ownerId, sessionId).catch((error: unknown) => {
          // The next attempt reads again.
          entry.result = undefined;
          throw error;
        });
        return entry.result;
      },
      [Symbol.dispose]: () => {
        entry.users -= 1;
        if (entry.users > 0) return;
        this.#entries.delete(key);
        entry.held.then(
          (held) => held[Symbol.dispose](),
          () => undefined,
        );
      },
    };
  }
}
