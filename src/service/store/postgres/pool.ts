import { Socket } from 'node:net';
import pg from 'pg';
import type { ConnectionCounts } from '../connections.ts';
import {
  AcceptedConnectionLostError,
  CONNECTIONS_MAX,
  CONNECT_MS_MAX,
  ResponseTimeoutError,
  findPostgresProblem,
  type PostgresProblem,
} from './database-problem.ts';
import { parseDatabaseUrl } from './database-url.ts';

/** Limits of the connections to a database, and what to do when one breaks. */
export interface PoolOptions {
  /** Maximum number of connections (default: 10). */
  connectionsMax?: number;
  /** Maximum time to get a connection, new or free, in milliseconds (default: 5 s). */
  connectMsMax?: number;
  /** Maximum time of a statement in milliseconds (default: 10 s). */
  statementMsMax?: number;
  /** Maximum time that a statement waits for a lock, in milliseconds (default: 5 s). */
  lockMsMax?: number;
  /** Maximum time that a transaction waits for its next statement (default: 30 s). */
  idleInTransactionMsMax?: number;
  /**
   * Maximum time that a connection waits for any response, in milliseconds (default: 2 s more than a
   * statement may take). It is then closed, because the server can't be reached anymore.
   */
  responseMsMax?: number;
  /** Receives why an open connection broke, for example because the server stopped. */
  onConnectionLost?: (problem: PostgresProblem | undefined) => void;
}

// Exporters wait 10 s for a response; a later one would not reach them.
const STATEMENT_MS_MAX = 10_000;
const LOCK_MS_MAX = 5_000;
const IDLE_IN_TRANSACTION_MS_MAX = 30_000;

const RESPONSE_MARGIN_MS = 2_000;

/** Unused connections are closed after this time. */
const UNUSED_MS_MAX = 60_000;

/** When the system starts to check whether the server of an unused connection still exists. */
const KEEP_ALIVE_MS = 10_000;

/**
 * Opens connections to a database as they are needed. A connection that breaks is replaced by the
 * next use, so that a restart of the server needs no restart of this process.
 * @throws DatabaseUrlError
 */
export function openPool(url: string, options: PoolOptions = {}): pg.Pool {
  const { statementMsMax = STATEMENT_MS_MAX, onConnectionLost = () => undefined } = options;
  const pool = new pg.Pool({
    ...parseDatabaseUrl(url),
    Client: ClosingClient,
    application_name: 'sandbox-kit',
    max: options.connectionsMax ?? CONNECTIONS_MAX,
    connectionTimeoutMillis: options.connectMsMax ?? CONNECT_MS_MAX,
    statement_timeout: statementMsMax,
    lock_timeout: options.lockMsMax ?? LOCK_MS_MAX,
    idle_in_transaction_session_timeout:
      options.idleInTransactionMsMax ?? IDLE_IN_TRANSACTION_MS_MAX,
    idleTimeoutMillis: UNUSED_MS_MAX,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    types: { getTypeParser },
  });
  const responseMsMax = options.responseMsMax ?? statementMsMax + RESPONSE_MARGIN_MS;
  pool.on('connect', (client) => {
    // The pool listens to unused connections only. Without a listener, an error ends the process.
    client.on('error', (error) => onConnectionLost(findPostgresProblem(error)));
    closeIfUnresponsive(client, responseMsMax);
  });
  pool.on('error', () => undefined);
  return pool;
}

/** Counts the connections of a pool, and who waits for one. */
export function countConnections(pool: pg.Pool): ConnectionCounts {
  return { total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount };
}

/** How the driver says that a connection ended, even if the pool closed it. */
const LOST_MESSAGE = 'Connection terminated unexpectedly';

/**
 * A client that closes its connection if it can't be used; the driver leaves some open. Only the pool
 * connects it. The callback runs synchronously, because the pool adds its listeners in it: an error
 * that follows immediately, such as that the server stops, must not find the client without one.
 */
class ClosingClient extends pg.Client {
  /** Whether a statement waits for its response. */
  isBusy = false;

  constructor(config?: pg.ClientConfig) {
    super(config);
    this.on('drain', () => (this.isBusy = false));
  }

  override query(...statement: unknown[]): never {
    this.isBusy = true;
    return super.query(...(statement as [string])) as never;
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: (error: Error | null) => void): void;
  override connect(callback?: (error: Error | null) => void): Promise<pg.Client> | undefined {
    if (!callback) return super.connect();
    let isAccepted = false;
    this.connection.stream.once('connect', () => (isAccepted = true));
    super.connect((error: Error | null) => {
      if (error) this.connection.stream.destroy();
      const isLost = error && isAccepted && !('code' in error) && error.message === LOST_MESSAGE;
      callback(isLost ? new AcceptedConnectionLostError(error) : error);
    });
    return undefined;
  }
}

/**
 * Closes a connection whose server sends nothing for too long. The driver's own limit would return the
 * connection to the pool, where the next statement would wait for the response of this one.
 */
function closeIfUnresponsive(client: pg.Client, responseMsMax: number): void {
  const { stream } = client.connection;
  // A TLS connection is one, too.
  if (!(stream instanceof Socket)) return;
  stream.setTimeout(responseMsMax, () => {
    const isBusy = client instanceof ClosingClient && client.isBusy;
    if (isBusy) stream.destroy(new ResponseTimeoutError());
  });
}

const { INT8 } = pg.types.builtins;

/** Returns the parser of a type: as in the driver, except that `int8` is a number. */
const getTypeParser: pg.CustomTypesConfig['getTypeParser'] = (type, format) =>
  type === INT8 && format !== 'binary'
    ? parseInt8
    : (pg.types.getTypeParser(type, format) as typeof parseInt8);

/** Counters and milliseconds are safe. Nanoseconds are not: select them as text. */
function parseInt8(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value)) return value;
  throw new RangeError(`The integer ${text} would lose digits. Select it with cast(... as text).`);
}
