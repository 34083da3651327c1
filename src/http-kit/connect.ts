import type { SecureContextOptions } from 'node:tls';
import { isIPv6 } from 'node:net';
import { buildConnector } from 'undici';
import { findProxy, openTunnel, type ProxySettings } from '../platform/proxy.ts';

/**
 * Returns a connector for undici that goes through the proxy of an address, and connects as `direct`
 * does where there is none.
 */
export function throughProxy(
  direct: buildConnector.connector,
  tls: SecureContextOptions,
  proxies: ProxySettings = {},
): buildConnector.connector {
  if (proxies.http === undefined && proxies.https === undefined) return direct;
  const secure = buildConnector({ ...tls, allowH2: false });
  return (options, callback) => {
    const { protocol, hostname } = options;
    const port = options.port === '' ? (protocol === 'https:' ? '443' : '80') : options.port;
    const host = isIPv6(hostname) ? `[${hostname}]` : hostname;
    const proxy = findProxy(`${protocol}//${host}:${port}`, proxies);
    if (!proxy) {
      direct(options, callback);
      return;
    }
    openTunnel(proxy, hostname, port).then(
      (socket) => {
        if (protocol === 'https:') secure({ ...options, httpSocket: socket }, callback);
        else callback(null, socket);
      },
      (error: unknown) => callback(error as Error, null),
    );
  };
}
