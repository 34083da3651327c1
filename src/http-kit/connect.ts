import type { SecureContextOptions } from 'node:tls';
import type { Socket } from 'node:net';
import { buildConnector } from 'undici';
import { findProxy, openTunnel, type ProxySettings } from '../platform/proxy.ts';
import { formatAuthority } from '../platform/base-url.ts';

/**
 * Makes a TLS alert, such as the demand for a client certificate, the reason why a connection ended.
 * It is followed by the end of the connection, which undici would report instead.
 */
export function keepTlsAlert(encrypted: Socket): void {
  encrypted.once('error', (alert: Error) => encrypted.destroy(alert));
}

/**
 * Returns a connector for undici that goes through the proxy of an address. An address without a
 * proxy is connected to by `direct`.
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
    const proxy = findProxy(`${protocol}//${formatAuthority(hostname, port)}`, proxies);
    if (!proxy) {
      direct(options, callback);
      return;
    }
    openTunnel(proxy, hostname, port).then(
      (socket) => {
        if (protocol !== 'https:') callback(null, socket);
        else {
          secure({ ...options, httpSocket: socket }, (...result) => {
            if (result[1]) keepTlsAlert(result[1]);
            callback(...result);
          });
        }
      },
      (error: unknown) => callback(error as Error, null),
    );
  };
}
