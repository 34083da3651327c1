import type { LoadEngineName } from '../../src/contract/index.ts';
import { describeExposure } from '../../library/exposure.ts';
import { findProxyConflict } from '../../library/load-plan.ts';
import { readTextFile } from '../../library/input/files.ts';
import { isCertificate, type Connection } from '../../src/platform/connection.ts';
import { findProxy, parseProxy, type ProxySettings } from '../../src/platform/proxy.ts';
import { UsageError } from '../errors.ts';
import { readProxies } from '../flags/environment.ts';
import type { Variables } from '../process.ts';
import { readClientCertificate, type CertificateFlags } from './client-certificate.ts';
import { readHeaderFile, type KeyHeader } from './header-file.ts';
import {
  readSandboxKey,
  readTargetKey,
  type KeyFlags,
  type TargetKey,
  type TargetKeyFlags,
} from './keys.ts';

/** The options of the connection to a sandbox, except its URL and its key. */
interface ConnectionFlags extends CertificateFlags {
  headers?: string | undefined;
  allowHttp?: boolean | undefined;
}

/**
 * Reads the additional headers, the client certificate, and the proxies of a run.
 *
 * @throws {UsageError} if a file or a variable is invalid, or a secret would be sent unencrypted.
 */
export function readConnection(
  flags: ConnectionFlags,
  { urls, keyHeader }: { urls: readonly string[]; keyHeader: KeyHeader },
  env: Variables,
): Connection {
  const path = flags.headers;
  const proxies = readProxies(env);
  for (const url of urls) rejectInvalidProxy(url, proxies);
  rejectExposure(flags, { urls, keyHeader });
  return {
    ...(path !== undefined && { headers: readHeaderFile(path, keyHeader) }),
    clientCertificate: readClientCertificate(flags, env),
    proxies,
  };
}

/** The options of the connection to a sandbox or a service. */
interface AccessFlags extends ConnectionFlags, TargetKeyFlags {
  url: string;
  ca?: string | undefined;
  voice?: { url?: string | undefined } | undefined;
}

/** How to reach a sandbox or a service. */
interface Access extends TargetKey, Connection {
  ca: string | undefined;
}

/** Returns the key and the connection of a check or a diagnosis. */
export function readAccess(flags: AccessFlags, env: Variables): Access {
  const { url, voice: { url: voiceUrl = url } = {} } = flags;
  const key = readTargetKey(flags, env);
  const { apiKey, apiKeyHeader = 'authorization' } = key;
  const keyHeader = apiKey === undefined ? undefined : apiKeyHeader;
  const connection = readConnection(flags, { urls: [url, voiceUrl], keyHeader }, env);
  return { ...key, ca: readCa(flags.ca), ...connection };
}

/** The options of a command that tests only sandboxes. */
interface SandboxFlags extends ConnectionFlags, KeyFlags {
  url: string;
  voice?: { url?: string | undefined } | undefined;
}

/**
 * Reads how to reach a sandbox, apart from its key.
 *
 * @throws {UsageError} if a file or a variable is invalid.
 */
export function readSandboxConnection(flags: SandboxFlags, env: Variables): Connection {
  const { url } = flags;
  const keyHeader = readSandboxKey(flags, env) === undefined ? undefined : 'authorization';
  return readConnection(flags, { urls: [url, flags.voice?.url ?? url], keyHeader }, env);
}

/**
 * Reads how a load test reaches a sandbox, apart from its key.
 *
 * @throws {UsageError} as above, and if autocannon would have to go through a proxy, which it can't.
 */
export function readLoadConnection(
  flags: SandboxFlags & { engine: LoadEngineName },
  env: Variables,
): Connection {
  const connection = readSandboxConnection(flags, env);
  const { proxies } = connection;
  const conflict = findProxyConflict({ ...flags, proxies }, (name) => `--${name}`, 'NO_PROXY');
  if (conflict !== undefined) throw new UsageError(conflict);
  return connection;
}

/** Returns the PEM text of the file that `--ca` names. */
export function readCa(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  const pem = readTextFile(path, '--ca');
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs);
  if (!blocks) throw new UsageError(`${path} (--ca) contains no PEM certificate.`);
  if (!blocks.every(isCertificate)) {
    throw new UsageError(`${path} (--ca) contains an invalid PEM certificate.`);
  }
  return pem;
}

/** Rejects plain HTTP to another machine with a key or additional headers, unless it is allowed. */
function rejectExposure(
  flags: ConnectionFlags,
  { urls, keyHeader }: { urls: readonly string[]; keyHeader: KeyHeader },
): void {
  const problem = describeExposure(
    {
      urls,
      hasKey: keyHeader !== undefined,
      hasHeaders: flags.headers !== undefined,
      allowHttp: flags.allowHttp,
    },
    {
      key: 'The API key',
      headers: 'The headers in --header-file',
      allowHttp: 'add --allow-http',
    },
  );
  if (problem !== undefined) throw new UsageError(problem);
}

/** Rejects a proxy that can't be used, but only if the URL needs it. */
function rejectInvalidProxy(url: string, proxies: ProxySettings): void {
  const any = 'http://proxy.invalid';
  if (!findProxy(url, { ...proxies, https: any, http: any })) return;
  const isSecure = /^(https|wss):/i.test(url);
  const proxy = isSecure ? proxies.https : proxies.http;
  if (proxy === undefined || parseProxy(proxy)) return;
  const name = isSecure ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  throw new UsageError(
    `${name} must be the URL of an HTTP proxy, such as http://proxy.example.com:3128. Other kinds of proxies are not supported.`,
  );
}
