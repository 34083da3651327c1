/** Proxies between the kit and a sandbox, as HTTPS_PROXY, HTTP_PROXY, and NO_PROXY name them. */
import { BlockList, isIP, isIPv6, type Socket } from 'node:net';
import { isLoopbackHost } from './loopback.ts';
import { formatAuthority } from './base-url.ts';

/** The proxies of a run, as the environment names them. */
export interface ProxySettings {
  /** URL of the proxy for `https:` and `wss:`. */
  https?: string | undefined;
  /** URL of the proxy for `http:` and `ws:`. */
  http?: string | undefined;
  /** Hosts that are reached directly, separated by commas or spaces. */
  noProxy?: string | undefined;
}

/** The proxy did not open a tunnel. The message names the proxy, and never its password. */
export class ProxyError extends Error {
  override name = 'ProxyError';
  readonly code = 'ERR_PROXY';
}

/** Time limit to open a tunnel, which includes the connection from the proxy to the sandbox. */
const TUNNEL_MS_MAX = 15_000;

/**
 * Returns the proxy for a URL; undefined for a direct connection. Loopback addresses are always
 * reached directly.
 */
export function findProxy(url: string, settings: ProxySettings = {}): URL | undefined {
  const { protocol, hostname, port } = new URL(url);
  const isSecure = protocol === 'https:' || protocol === 'wss:';
  const proxy = isSecure ? settings.https : settings.http;
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase();
  if (proxy === undefined || isLoopbackHost(hostname)) return undefined;
  if (isExempt(host, port === '' ? (isSecure ? '443' : '80') : port, settings.noProxy)) {
    return undefined;
  }
  return parseProxy(proxy);
}

/** Returns the URL of a proxy, with `http:` if the text has no scheme; undefined if it is invalid. */
export function parseProxy(text: string): URL | undefined {
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  return url && /^https?:$/.test(url.protocol) && url.hostname !== '' ? url : undefined;
}

/** Returns the host and the port of a proxy, without its user name and password. */
export const proxyHostOf = ({ hostname, port, protocol }: URL): string =>
  `${hostname}:${port === '' ? (protocol === 'https:' ? '443' : '80') : port}`;

/**
 * Returns whether NO_PROXY names a host: `*`, a name (which includes its subdomains), a name with a
 * leading dot or `*.`, an address, a network such as 10.0.0.0/8, each with an optional port.
 */
function isExempt(host: string, port: string, noProxy = ''): boolean {
  return noProxy
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      if (entry === '*') return true;
      const [, name = entry, entryPort] = /^(\[[^\]]*\]|[^:]*):(\d+)$/.exec(entry) ?? [];
      if (entryPort !== undefined && entryPort !== port) return false;
      const bare = name.replace(/^\[|\]$/g, '');
      if (bare.includes('/')) return isInNetwork(host, bare);
      const domain = bare.replace(/^\*?\./, '');
      return host === domain || (isIP(host) === 0 && host.endsWith(`.${domain}`));
    });
}

function isInNetwork(host: string, network: string): boolean {
  const [address = '', prefix = ''] = network.split('/');
  if (isIP(host) === 0 || isIP(host) !== isIP(address)) return false;
  const family = isIPv6(host) ? 'ipv6' : 'ipv4';
  const list = new BlockList();
  try {
    list.addSubnet(address, Number(prefix), family);
  } catch {
    return false;
  }
  return list.check(host, family);
}

/**
 * Opens a tunnel through a proxy with CONNECT. Plain HTTP also uses a tunnel, so that no proxy
 * changes the messages that are judged.
 *
 * @throws {ProxyError} if the proxy can't be reached or refuses.
 */
export function openTunnel(proxy: URL, host: string, port: string): Promise<Socket> {
  const target = formatAuthority(host, port);
  const name = `the proxy ${proxyHostOf(proxy)}`;
  const { username, password } = proxy;
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  // Importing `node:http` at the top would load Node's fetch, a fifth of the start of an agent.
  const { request: send } = process.getBuiltinModule(
    proxy.protocol === 'https:' ? 'node:https' : 'node:http',
  );
  return new Promise((resolve, reject) => {
    const fail = (reason: string): void => reject(new ProxyError(`${name} ${reason}`));
    const request = send({
      host: proxy.hostname.replace(/^\[|\]$/g, ''),
      port: proxyHostOf(proxy).split(':').at(-1),
      method: 'CONNECT',
      path: target,
      agent: false,
      timeout: TUNNEL_MS_MAX,
      headers: {
        host: target,
        ...(username !== '' && {
          'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}`,
        }),
      },
    });
    request.on('connect', ({ statusCode = 0 }, socket: Socket, head: Buffer) => {
      if (statusCode >= 200 && statusCode < 300) {
        socket.setTimeout(0);
        if (head.length > 0) socket.unshift(head);
        resolve(socket);
        return;
      }
      socket.destroy();
      fail(describeRefusal(statusCode, target));
    });
    request.on('timeout', () => request.destroy(new Error('it does not respond')));
    request.on('error', (error: NodeJS.ErrnoException) => fail(describeError(error)));
    request.end();
  });
}

function describeRefusal(status: number, target: string): string {
  if (status === 407) return 'requires a user name and a password (407)';
  return `refuses to connect to ${target} (${status})`;
}

const reasons: Partial<Record<string, string>> = {
  ECONNREFUSED: 'refuses connections',
  ENOTFOUND: 'has a host name that does not resolve',
  EAI_AGAIN: 'has a host name that does not resolve',
  EHOSTUNREACH: 'is unreachable',
  ENETUNREACH: 'is unreachable',
  ETIMEDOUT: 'does not accept connections',
  ECONNRESET: 'closed the connection',
};

function describeError(error: NodeJS.ErrnoException): string {
  const first = (
    error instanceof AggregateError ? error.errors[0] : error
  ) as NodeJS.ErrnoException;
  return reasons[first.code ?? ''] ?? `can't be used: ${first.message}`;
}
