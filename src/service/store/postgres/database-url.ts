import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { errorMessage } from '../../../platform/error-origin.ts';

/** A database, and how to connect to it. */
export interface DatabaseAddress {
  host: string;
  port: number;
  database: string;
  /** Undefined to use PGUSER, or the user of this process. */
  user: string | undefined;
  /** Undefined to use PGPASSWORD, or the file of passwords of PostgreSQL. */
  password: string | undefined;
  /** False for a connection without TLS. */
  ssl: ConnectionOptions | false;
  /** Whether authentication is bound to the TLS connection if the server offers it. */
  enableChannelBinding: boolean;
}

/** Thrown for an invalid URL of a database. The message does not contain the URL. */
export class DatabaseUrlError extends Error {
  override name = 'DatabaseUrlError';
}

const FORM = 'postgres://USER:PASSWORD@HOST:5432/DATABASE';
const ENCODING_HINT = `Write ${FORM}, with special characters of the password as in %40 for @.`;
const DEFAULT_PORT = 5432;

const TLS_MODES = ['disable', 'require', 'verify-ca', 'verify-full'] as const;
type TlsMode = (typeof TLS_MODES)[number];

const PARAMETERS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'channel_binding'] as const;
type Parameters = Partial<Record<(typeof PARAMETERS)[number], string>>;

/**
 * Reads the URL of a database, and the certificate files that it names.
 * @throws DatabaseUrlError
 */
export function parseDatabaseUrl(url: string): DatabaseAddress {
  const parsed = parse(url);
  if (!parsed) throw new DatabaseUrlError(`The URL of the database is invalid. ${ENCODING_HINT}`);
  const database = parsed.pathname.slice(1);
  if (database === '') {
    throw new DatabaseUrlError(`The URL of the database has no name of a database. Write ${FORM}.`);
  }
  const host = decode(parsed.hostname).replace(/^\[(.*)\]$/, '$1') || 'localhost';
  const parameters = readParameters(parsed.searchParams);
  return {
    host,
    port: Number(parsed.port || DEFAULT_PORT),
    database: decode(database),
    user: decode(parsed.username) || undefined,
    password: decode(parsed.password) || undefined,
    ssl: readTls(host, parameters),
    enableChannelBinding: ['prefer', 'require'].includes(parameters.channel_binding ?? ''),
  };
}

/** Returns the URL of a database without its password and parameters, for messages and logs. */
export function redactDatabaseUrl(url: string): string {
  const parsed = parse(url);
  if (!parsed) return 'postgres://';
  const user = parsed.username === '' ? '' : `${parsed.username}@`;
  return `${parsed.protocol}//${user}${parsed.host}${parsed.pathname}`;
}

/** Returns undefined for an invalid URL, also if it is valid only by a wrongly encoded password. */
function parse(url: string): URL | undefined {
  const parsed = URL.parse(url);
  if (!parsed || !['postgres:', 'postgresql:'].includes(parsed.protocol)) return undefined;
  const { pathname, search, hash } = parsed;
  // `postgres://user:1/2@host/name` has the host `user`, and its path contains the password.
  return `${pathname}${search}`.includes('@') || hash !== '' ? undefined : parsed;
}

/** @throws DatabaseUrlError */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new DatabaseUrlError(`The URL of the database is invalid. ${ENCODING_HINT}`);
  }
}

/** @throws DatabaseUrlError */
function readParameters(given: URLSearchParams): Parameters {
  const unknown = [...given.keys()].find((name) => !isParameter(name));
  if (unknown !== undefined) {
    throw new DatabaseUrlError(
      `The URL of the database has an unsupported parameter, ${unknown}. ` +
        `Supported parameters are ${PARAMETERS.join(', ')}.`,
    );
  }
  return Object.fromEntries(given);
}

const isParameter = (name: string): boolean => (PARAMETERS as readonly string[]).includes(name);

/** The modes mean the same as in PostgreSQL's own clients. @throws DatabaseUrlError */
function readTls(host: string, parameters: Parameters): ConnectionOptions | false {
  const { sslmode = 'disable', sslrootcert, sslcert, sslkey } = parameters;
  if (!isTlsMode(sslmode)) {
    throw new DatabaseUrlError(
      `The URL of the database has an unsupported sslmode. ` +
        `Supported modes are ${TLS_MODES.join(', ')}.`,
    );
  }
  if (sslmode === 'disable') return false;
  return {
    ...(sslrootcert !== undefined && sslrootcert !== 'system' && { ca: readFile(sslrootcert) }),
    ...(sslcert !== undefined && { cert: readFile(sslcert) }),
    ...(sslkey !== undefined && { key: readFile(sslkey) }),
    // Node checks the certificate against this name. The driver sets it for names only.
    ...(isIP(host) !== 0 && { host }),
    rejectUnauthorized: sslmode !== 'require' || sslrootcert !== undefined,
    ...(sslmode !== 'verify-full' && { checkServerIdentity: () => undefined }),
  };
}

const isTlsMode = (mode: string): mode is TlsMode =>
  (TLS_MODES as readonly string[]).includes(mode);

/** @throws DatabaseUrlError */
function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new DatabaseUrlError(
      `Can't read ${path}, which the URL of the database names: ${errorMessage(error)}.`,
    );
  }
}
