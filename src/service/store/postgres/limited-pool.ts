import type { PostgresPool, PostgresPoolClient } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import { waitWithinLimit } from '../wait-limit.ts';
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
  try {
    return await waitWithinLimit(Promise.race([connecting, late.promise]), () =>
      late.reject(new ResponseTimeoutError()),
    );
  } catch (error) {
    // A connection that comes too late is free for others.
    connecting.then(
      (client) => client.release(),
      () => undefined,
    );
    throw error;
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
    return waitWithinLimit(client.query(text, [...values]), () => {
      failure = new ResponseTimeoutError();
      connection.stream.destroy(failure);
    });
  };
  return {
    processID,
    query: query as PostgresPoolClient['query'],
    release: (isBroken) => client.release(isBroken),
  };
}
