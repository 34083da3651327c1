import { isError, errorCode } from '../../../platform/error-origin.ts';
import { certificateProblems } from './certificate-problems.ts';

/** Maximum number of connections of a pool. */
export const CONNECTIONS_MAX = 10;

/** Maximum time to get a connection to the server. */
export const CONNECT_MS_MAX = 5_000;

/** Kinds of failures of a database that is not a bug of this program. */
export type PostgresProblemKind =
  | 'unreachable'
  | 'tls_failed'
  | 'authentication_failed'
  | 'database_missing'
  | 'too_many_connections'
  | 'overloaded'
  | 'conflict'
  | 'read_only'
  | 'disk_full'
  | 'timeout'
  | 'shutting_down'
  | 'permission_denied';

/** Why the database did not do its work. Neither field contains data or a password. */
export interface PostgresProblem {
  kind: PostgresProblemKind;
  /** The SQLSTATE of the server, or the code of Node, for logs. */
  code: string;
  /** What happened, what was expected, and what to do next. */
  message: string;
  /** Whether the same work may succeed later without a change of the configuration. */
  canRetry: boolean;
}

/** Thrown if a newer or an unpublished version of this program wrote the database. */
export class UnsupportedSchemaError extends Error {
  override name = 'UnsupportedSchemaError';
}

/** Thrown if a database can't store all characters. */
export class DatabaseEncodingError extends Error {
  override name = 'DatabaseEncodingError';
  readonly code = 'database_encoding';

  constructor(encoding: string) {
    super(
      `The database has the encoding ${encoding}, which can't store every text. Create another ` +
        "database, with encoding 'UTF8' template template0.",
    );
  }
}

/** Thrown if the tables exist, but the role may not use their schema. */
export class MissingGrantsError extends Error {
  override name = 'MissingGrantsError';
  readonly code = '42501';

  constructor() {
    super('permission denied for tables');
  }
}

/** Thrown if the database accepts no changes. */
export class ReadOnlyError extends Error {
  override name = 'ReadOnlyError';
  readonly code = '25006';

  constructor() {
    super('The database is read-only.');
  }
}

/** Thrown if a connection that the server accepted ended before the server responded. */
export class AcceptedConnectionLostError extends Error {
  override name = 'AcceptedConnectionLostError';

  constructor(cause: Error) {
    super(cause.message, { cause });
  }
}

/** Thrown if the server of an open connection sent nothing for too long. */
export class ResponseTimeoutError extends Error {
  override name = 'ResponseTimeoutError';
  readonly code = 'response_timeout';

  constructor() {
    super('The database did not respond in time. The connection is closed.');
  }
}

/** The connections that one process uses at most: two pools, and one that listens. */
const REPLICA_CONNECTIONS_MAX = 2 * CONNECTIONS_MAX + 1;

function describeLimit(problem: string, advice: string): string {
  return `${problem} Each process of the service uses up to ${REPLICA_CONNECTIONS_MAX} connections. ${advice}, or run fewer replicas.`;
}

/** Describes an unreachable database, with its address if it is given. */
export function describeUnreachable(address?: string): string {
  const place = address === undefined ? '' : ` at ${address}`;
  return `The connection to the database${place} failed. PostgreSQL must run and be reachable at the URL's host and port. Check the server, the URL, and the network.`;
}

const problems: Readonly<Record<PostgresProblemKind, Omit<PostgresProblem, 'kind' | 'code'>>> = {
  unreachable: { message: describeUnreachable(), canRetry: true },
  tls_failed: {
    message:
      'The TLS connection to the database failed. The server and the URL must agree on TLS. Check sslmode and sslrootcert in the URL, and the certificate of the server.',
    canRetry: false,
  },
  authentication_failed: {
    message:
      'The database refused the user or the password. Both must be valid for a connection from this machine. Check the URL, and pg_hba.conf of the server.',
    canRetry: false,
  },
  database_missing: {
    message:
      'The database in the URL does not exist. The service creates tables, but not the database. Create it with CREATE DATABASE, or correct the URL.',
    canRetry: false,
  },
  too_many_connections: {
    message: describeLimit(
      'The database has no free connection.',
      'Raise max_connections of the server',
    ),
    canRetry: true,
  },
  overloaded: {
    message:
      'The database lacks memory or another resource. Nothing was stored. Check its load and its limits.',
    canRetry: true,
  },
  conflict: {
    message: 'A concurrent transaction changed the same rows. Nothing was stored. Try again.',
    canRetry: true,
  },
  read_only: {
    message:
      'The database is read-only. The service needs the primary server. Check that the URL names it, and that default_transaction_read_only is off.',
    canRetry: true,
  },
  disk_full: {
    message:
      "The database can't write to its disk. Nothing was stored. Free disk space on the database server.",
    canRetry: true,
  },
  timeout: {
    message:
      'The database did not respond in time. Nothing was stored. Check its load and its locks, and try again.',
    canRetry: true,
  },
  shutting_down: {
    message: 'The database is starting or stopping. Try again when it accepts connections.',
    canRetry: true,
  },
  permission_denied: {
    message:
      'The user in the database URL lacks a permission. It must own the database, or be allowed to create tables in its schema. Grant the permission, or name another user.',
    canRetry: false,
  },
};

/** SQLSTATE codes (appendix A of PostgreSQL's manual) and codes of Node, by the problem they show. */
const codes: Readonly<Record<PostgresProblemKind, readonly string[]>> = {
  unreachable: [
    // 08P01 is how connection poolers say that the server behind them gives no connection.
    ...['08000', '08001', '08003', '08004', '08006', '08P01'],
    ...['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'],
    ...['EHOSTDOWN', 'ENETDOWN', 'EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN'],
  ],
  tls_failed: [
    ...['SELF_SIGNED_CERT_IN_CHAIN', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'CERT_HAS_EXPIRED'],
    ...['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'],
    ...['UNABLE_TO_GET_ISSUER_CERT', 'CERT_NOT_YET_VALID', 'CERT_UNTRUSTED', 'CERT_REVOKED'],
    ...['CERT_SIGNATURE_FAILURE', 'INVALID_CA', 'INVALID_PURPOSE', 'HOSTNAME_MISMATCH'],
    'ERR_TLS_CERT_ALTNAME_INVALID',
  ],
  authentication_failed: ['28P01', '28000'],
  // 57P04: the database was dropped while it was in use.
  database_missing: ['3D000', '57P04'],
  too_many_connections: ['53300'],
  overloaded: ['53000', '53200', '53400'],
  conflict: ['40001', '40003', '40P01'],
  read_only: ['25006'],
  // 58030 is an input or output error.
  disk_full: ['53100', '58030'],
  // Timeouts of statements, locks, transactions, and idle transactions and connections; and our own.
  timeout: ['57014', '55P03', '25P04', '25P03', '57P05', 'response_timeout'],
  shutting_down: ['57P01', '57P02', '57P03'],
  // 3F000: the role may use none of the schemas in its search path.
  permission_denied: ['42501', '3F000'],
};

const kindByCode: ReadonlyMap<string, PostgresProblemKind> = new Map(
  Object.entries(codes).flatMap(([kind, list]) =>
    list.map((code) => [code, kind as PostgresProblemKind]),
  ),
);

/** The code of a server that accepts a connection, and then does not respond. */
export const SILENT_CODE = 'server_silent';

/** Errors of the driver without a code, by their message. */
const driverErrors: readonly {
  kind: PostgresProblemKind;
  code: string;
  pattern: RegExp;
  /** Replaces the message of the kind. */
  message?: string;
}[] = [
  {
    kind: 'unreachable',
    code: 'connection_lost',
    pattern:
      /^Connection terminated(?! due to connection timeout)|^timeout expired$|not queryable|^Client was closed|^Connection lost/,
  },
  {
    kind: 'unreachable',
    code: 'connect_timeout',
    pattern: /^Connection terminated due to connection timeout$/,
  },
  // All connections of the pool were in use for too long.
  { kind: 'timeout', code: 'pool_timeout', pattern: /^timeout exceeded when trying to connect$/ },
  {
    kind: 'authentication_failed',
    code: 'password_missing',
    pattern: /password must be a (non-empty )?string/,
    message:
      'The database needs a password, but its URL has none. Neither PGPASSWORD nor ~/.pgpass has one for it. Add it to the URL: postgres://USER:PASSWORD@HOST:5432/DATABASE.',
  },
  { kind: 'authentication_failed', code: 'sasl_failed', pattern: /^SASL: / },
  {
    kind: 'tls_failed',
    code: 'tls_not_offered',
    pattern: /^The server does not support SSL connections/,
    message:
      'The database server does not offer TLS, but sslmode in the URL requires it. Turn on ssl on the server, or write sslmode=disable if the network is trusted.',
  },
  {
    kind: 'tls_failed',
    code: 'tls_refused',
    pattern: /SSL connection|^There was an error establishing an SSL/,
  },
];

/** Errors of the server that say more than their code. */
const serverErrors: readonly { code: string; pattern: RegExp; message: string }[] = [
  {
    code: '42501',
    pattern: /^permission denied for (tables?|sequence)\b/,
    message:
      'The role in the database URL may not use the tables. It needs GRANT USAGE ON SCHEMA, GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA, and GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA. Run them as the owner of the tables.',
  },
  ...['42501', '3F000'].map((code) => ({
    code,
    pattern: /^permission denied for schema\b|^no schema has been selected|^must be owner of\b/,
    message:
      'The role in the database URL lacks a permission to create or update tables. Run sandbox-kit migrate with a role that may create tables, such as the owner of the database. This role then needs only the permissions to read and change rows.',
  })),
  {
    code: '53300',
    pattern: /^too many connections for role/,
    message: describeLimit(
      'The role in the database URL has no free connection.',
      'Raise its limit (ALTER ROLE … CONNECTION LIMIT)',
    ),
  },
  {
    code: '53300',
    pattern: /^too many connections for database/,
    message: describeLimit(
      'The database in the URL has no free connection.',
      'Raise its limit (ALTER DATABASE … CONNECTION LIMIT)',
    ),
  },
];

/** How the server says that `pg_hba.conf` allows the connection only with TLS. */
const NEEDS_TLS = /no encryption|SSL off/;
const NEEDS_TLS_MESSAGE =
  'The database server refused the connection because it is not encrypted. For this user and machine, it accepts only encrypted connections. ' +
  'Add sslmode=verify-full to the URL, with sslrootcert=FILE if the CA of the server is not a public one, or add sslmode=require to encrypt without checking the server.';

/**
 * Returns the problem of the database that an error of the driver shows; undefined for any other error,
 * which is a bug.
 */
export function findPostgresProblem(error: unknown): PostgresProblem | undefined {
  if (!isError(error)) return undefined;
  const code = errorCode(error);
  // A client of the service that disconnects while it sends a body. Errors of sockets name a system call.
  if (code === 'ECONNRESET' && error.message === 'aborted' && !('syscall' in error)) {
    return undefined;
  }
  const coded = kindByCode.get(code) ?? (isTlsCode(code) ? 'tls_failed' : undefined);
  if (coded === 'authentication_failed' && NEEDS_TLS.test(error.message)) {
    return createProblem('tls_failed', code, NEEDS_TLS_MESSAGE);
  }
  const special = serverErrors.find(
    (each) => each.code === code && each.pattern.test(error.message),
  );
  if (coded) return createProblem(coded, code, special?.message ?? certificateProblems.get(code));
  // A Unix socket that is missing or private. Other files have the same codes.
  const isSocket = 'syscall' in error && error.syscall === 'connect';
  if (isSocket && ['ENOENT', 'EACCES'].includes(code)) return createProblem('unreachable', code);
  const known = driverErrors.find(({ pattern }) => pattern.test(error.message));
  if (known && code === '') {
    const isSilent = error.cause instanceof AcceptedConnectionLostError;
    return createProblem(known.kind, isSilent ? SILENT_CODE : known.code, known.message);
  }
  // An error of a name that has several addresses contains the error of each.
  const parts: unknown[] = error instanceof AggregateError ? error.errors : [];
  return parts.map(findPostgresProblem).find((problem) => problem !== undefined);
}

const isTlsCode = (code: string): boolean => /^ERR_(SSL|TLS|OSSL)_/.test(code);

function createProblem(
  kind: PostgresProblemKind,
  code: string,
  message = problems[kind].message,
): PostgresProblem {
  return { kind, code, ...problems[kind], message };
}
