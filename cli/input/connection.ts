import { loadOptions } from '../../load/options.ts';
import type { LoadEngineName } from '../../src/contract/index.ts';
import { describeExposure } from '../../library/exposure.ts';
import { findProxyConflict } from '../../library/load-plan.ts';
import { readTextFile } from '../../library/input/files.ts';
import { sandboxAccess } from '../../src/options/run.ts';
import { spellAsFlag } from '../../src/options/table.ts';
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

/** The options of the connection to a sandbox or a service, except its key. */
interface AddressFlags extends ConnectionFlags {
  url: string;
  ca?: string | undefined;
  voice?: { url?: string | undefined } | undefined;
}

/** How to reach a sandbox or a service. */
export interface Access extends Connection {
  apiKey: string | undefined;
  ca: string | undefined;
}

/**
 * Reads how to reach the sandbox or the service of a check or a diagnosis.
 *
 * @throws {UsageError} if a file or a variable is invalid, or a secret would be sent unencrypted.
 */
export function readAccess(
  flags: AddressFlags & TargetKeyFlags,
  env: Variables,
): Access & TargetKey {
  const key = readTargetKey(flags, env);
  return { ...key, ...readAccessWith(key, flags, env) };
}

/**
 * Reads how to reach a sandbox.
 *
 * @throws {UsageError} as `readAccess` does.
 */
export function readSandboxAccess(flags: AddressFlags & KeyFlags, env: Variables): Access {
  return readAccessWith({ apiKey: readSandboxKey(flags, env) }, flags, env);
}

/**
 * Reads how a load test reaches a sandbox.
 *
 * @throws {UsageError} as `readAccess` does, and if autocannon would have to go through a proxy, which
 *   it can't.
 */
export function readLoadAccess(
  flags: AddressFlags & KeyFlags & { engine: LoadEngineName },
  env: Variables,
): Access {
  const access = readSandboxAccess(flags, env);
  const { proxies } = access;
  const conflict = findProxyConflict({ ...flags, proxies }, spellAsFlag(loadOptions), 'NO_PROXY');
  if (conflict !== undefined) throw new UsageError(conflict);
  return access;
}

/** Takes the key instead of reading it again, because its file may be a pipe. */
function readAccessWith(
  {
    apiKey,
    apiKeyHeader = 'authorization',
  }: { apiKey: string | undefined; apiKeyHeader?: string | undefined },
  flags: AddressFlags,
  env: Variables,
): Access {
  const { url, ca, voice: { url: voiceUrl = url } = {} } = flags;
  const keyHeader = apiKey === undefined ? undefined : apiKeyHeader;
  const connection = readConnection(flags, { urls: [url, voiceUrl], keyHeader }, env);
  return { apiKey, ca: readCa(ca), ...connection };
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
    spellAsFlag(sandboxAccess),
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
