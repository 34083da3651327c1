import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { isCertificate } from '../../../platform/connection.ts';
import { errorMessage } from '../../../platform/error-origin.ts';
import { isLoopbackHost } from '../../../platform/loopback.ts';

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
const INVALID_URL = `The URL of the database is invalid. Write ${FORM}, and percent-encode special characters of the password: %40 for @.`;
const DEFAULT_PORT = 5432;

const TLS_MODES = ['disable', 'require', 'verify-ca', 'verify-full'] as const;
type TlsMode = (typeof TLS_MODES)[number];

const PARAMETERS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'channel_binding'] as const;
type Parameters = Partial<Record<(typeof PARAMETERS)[number], string>>;

const CHANNEL_BINDINGS = ['disable', 'prefer', 'require'];

/**
 * Reads the URL of a database, and the certificate files that it names.
 * @throws DatabaseUrlError
 */
export function parseDatabaseUrl(url: string): DatabaseAddress {
  const parsed = parse(url);
  if (!parsed) throw new DatabaseUrlError(describeInvalidUrl(url));
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

/**
 * Returns a warning about a URL whose connections are not encrypted, although they may leave this machine
 * and the URL does not ask for it; undefined for any other URL.
 */
export function findTlsWarning(url: string): string | undefined {
  const { host, ssl } = parseDatabaseUrl(url);
  const isChosen = URL.parse(url)?.searchParams.has('sslmode');
  if (ssl !== false || isChosen || host.startsWith('/') || isLoopbackHost(host)) return undefined;
  return (
    `The connections to the database on ${host} are not encrypted, because its URL has no sslmode. ` +
    'Add ?sslmode=verify-full to the URL, or ?sslmode=disable if the network is trusted.'
  );
}

/** Returns undefined for an invalid URL, including one whose password is wrongly encoded. */
function parse(url: string): URL | undefined {
  const parsed = URL.parse(url);
  if (!parsed || !['postgres:', 'postgresql:'].includes(parsed.protocol)) return undefined;
  const { pathname, search, hash, hostname, port } = parsed;
  // `postgres://user:1/2@host/name` has the host `user`, and its path contains the password.
  const isMisread = `${pathname}${search}`.includes('@') || hash !== '';
  return isMisread || hostname.includes(',') || port === '0' ? undefined : parsed;
}

/** Says which part of a URL is invalid. Quotes only the scheme, because a password may be anywhere else. */
function describeInvalidUrl(url: string): string {
  const [, scheme, authority = '', rest = ''] =
    /^(?:([a-z][\w+.-]*):\/\/)?([^/?#]*)(.*)$/is.exec(url) ?? [];
  const given = scheme === undefined ? '' : `, not with ${scheme}://`;
  if (!/^postgres(ql)?$/i.test(scheme ?? '')) {
    return `The URL of the database must start with postgres://${given}. Write ${FORM}.`;
  }
  const hosts = authority.replace(/^.*@/s, '');
  if (rest.includes('@') || rest.includes('#')) {
    return INVALID_URL;
  }
  if (hosts.includes(',')) {
    return 'The URL of the database has several hosts. Name one of them, such as the address of the primary server or of a proxy.';
  }
  if (hosts === '' || hosts.startsWith(':')) {
    return `The URL of the database has no host. Write ${FORM}.`;
  }
  if (/:[^\]]*$/.test(hosts) && !hasValidPort(hosts)) {
    return `The port in the URL of the database is invalid. It must be a number from 1 to 65535: ${FORM}.`;
  }
  return INVALID_URL;
}

function hasValidPort(host: string): boolean {
  const [, port = ''] = /:(\d{1,5})?$/.exec(host) ?? [];
  return Number(port) >= 1 && Number(port) <= 65_535;
}

/** @throws DatabaseUrlError */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new DatabaseUrlError(INVALID_URL);
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
  const names = [...given.keys()];
  const repeated = names.find((name, index) => names.indexOf(name) !== index);
  if (repeated !== undefined) {
    throw new DatabaseUrlError(
      `The URL of the database has the parameter ${repeated} twice. Remove one of them.`,
    );
  }
  const parameters: Parameters = Object.fromEntries(given);
  const { channel_binding: binding = 'prefer' } = parameters;
  if (CHANNEL_BINDINGS.includes(binding)) return parameters;
  throw new DatabaseUrlError(
    'The URL of the database has an unsupported channel_binding. ' +
      `Supported values are ${CHANNEL_BINDINGS.join(', ')}.`,
  );
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
  if (sslmode === 'disable') {
    rejectTlsParameters(parameters);
    return false;
  }
  rejectHalfCertificate(parameters);
  return {
    ...(sslrootcert !== undefined &&
      sslrootcert !== 'system' && { ca: readCertificate(sslrootcert) }),
    ...(sslcert !== undefined && { cert: readCertificate(sslcert) }),
    ...(sslkey !== undefined && { key: readFile(sslkey) }),
    // Node checks the certificate against this name. The driver sets it for names only.
    ...(isIP(host) !== 0 && { host }),
    rejectUnauthorized: sslmode !== 'require' || sslrootcert !== undefined,
    ...(sslmode !== 'verify-full' && { checkServerIdentity: () => undefined }),
  };
}

/** Without TLS, these parameters would have no effect. @throws DatabaseUrlError */
function rejectTlsParameters({ channel_binding: binding, ...parameters }: Parameters): void {
  const file = (['sslrootcert', 'sslcert', 'sslkey'] as const).find((name) => name in parameters);
  const name = file ?? (binding === 'require' ? 'channel_binding=require' : undefined);
  if (name === undefined) return;
  const change =
    parameters.sslmode === undefined ? 'Add sslmode=verify-full' : 'Write sslmode=verify-full';
  throw new DatabaseUrlError(
    `The URL of the database has ${name}, but no sslmode that uses TLS. ${change}, or remove ${name}.`,
  );
}

/** A client certificate is of no use without its key. @throws DatabaseUrlError */
function rejectHalfCertificate({ sslcert, sslkey }: Parameters): void {
  if ((sslcert === undefined) === (sslkey === undefined)) return;
  throw new DatabaseUrlError(
    sslkey === undefined
      ? 'The URL of the database has sslcert, but no sslkey. Add sslkey=FILE with the private key of the certificate, or remove sslcert.'
      : 'The URL of the database has sslkey, but no sslcert. Add sslcert=FILE with the certificate of the key, or remove sslkey.',
  );
}

const isTlsMode = (mode: string): mode is TlsMode =>
  (TLS_MODES as readonly string[]).includes(mode);

/** @throws DatabaseUrlError */
function readCertificate(path: string): string {
  const pem = readFile(path);
  if (isCertificate(pem)) return pem;
  throw new DatabaseUrlError(
    `${path}, which the URL of the database names, contains no PEM certificate. ` +
      'Name a file with -----BEGIN CERTIFICATE-----.',
  );
}

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
