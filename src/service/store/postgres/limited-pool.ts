import type { PostgresPool, PostgresPoolClient } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import { systemClock } from '../../../platform/clock.ts';
import { findWaitLimit } from '../wait-limit.ts';
import { ResponseTimeoutError } from './database-problem.ts';

/** Returns a pool whose connections obey the limit of `limitDatabaseWaits`. */
export function limitPool(pool: Pool): PostgresPool {
  return {
    options: pool.options,
    end: () => pool.end(),
    connect: async () => limitClient(await connectInTime(pool)),
  };
}

async function connectInTime(pool: Pool): Promise<PoolClient> {
  const connecting = pool.connect();
  const late = Promise.withResolvers<never>();
  const cancel = startLimit(() => late.reject(new ResponseTimeoutError()));
  if (!cancel) return connecting;
  try {
    return await Promise.race([connecting, late.promise]);
  } catch (error) {
    // A connection that comes too late is free for others.
    connecting.then(
      (client) => client.release(),
      () => undefined,
    );
    throw error;
  } finally {
    cancel();
  }
}

function limitClient(client: PoolClient): PostgresPoolClient {
  // The types of pg lack this property, which those of Kysely's pool contain.
  const { connection, processID } = client as PoolClient &
    Required<Pick<PostgresPoolClient, 'processID'>>;
  let failure: ResponseTimeoutError | undefined;
  const query = async (text: string, values: readonly unknown[]): Promise<unknown> => {
    // A rollback reports the cause, not that the connection is closed.
    if (failure) throw failure;
    // The statement fails with the connection. The server ends it by its own limit.
    const cancel = startLimit(() => {
      failure = new ResponseTimeoutError();
      connection.stream.destroy(failure);
    });
    try {
      return await client.query(text, [...values]);
    } finally {
      cancel?.();
    }
  };
  return {
    processID,
    query: query as PostgresPoolClient['query'],
    release: (isBroken) => client.release(isBroken),
  };
}

/**
 * Calls `end` when the limit of the current work is reached. Returns a function that cancels this;
 * undefined without a limit.
 */
function startLimit(end: () => void): (() => void) | undefined {
  const limit = findWaitLimit();
  if (!limit) return undefined;
  const deadline = systemClock.deadline(Math.max(0, limit.remainingMs()));
  deadline.signal.addEventListener('abort', end);
  const stop = limit.start();
  return () => {
    stop();
    deadline[Symbol.dispose]();
  };
}
