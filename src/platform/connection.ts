/** Settings of connections to a sandbox through gateways and proxies, for HTTP and WebSockets. */
import { X509Certificate } from 'node:crypto';
import { rootCertificates, type SecureContextOptions } from 'node:tls';
import type { ProxySettings } from './proxy.ts';

/** Settings of a connection, except the URL and the key. They can be sent to another process. */
export interface Connection {
  /** Headers of every request, by lowercase name. Their values are secrets. */
  headers?: Readonly<Record<string, string>> | undefined;
  clientCertificate?: ClientCertificate | undefined;
  proxies?: ProxySettings | undefined;
}

/** Headers that the kit or the HTTP client sets for each request. */
const RESERVED_HEADER =
  /^(host|content-(length|type|encoding)|transfer-encoding|connection|keep-alive|upgrade|te|trailer|expect|http2-settings|proxy-.*|sec-websocket-.*|traceparent)$/i;

/** Returns whether users can't set a header, because the kit or the HTTP client sets it. */
export const isReservedHeader = (name: string): boolean => RESERVED_HEADER.test(name);

/** The name of a header. */
export const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;

/** Returns whether a text can be the value of a header. */
export const isHeaderValue = (text: string): boolean => /^[\t\x20-\x7e]+$/.test(text);

/** A client certificate in PEM. */
export interface ClientCertificate {
  cert: string;
  key: string;
  /** The passphrase of an encrypted key. */
  passphrase?: string | undefined;
}

/** Returns whether a text contains a certificate in PEM. */
export function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}

/** Returns TLS options that trust an additional CA and present a client certificate. */
export function tlsOptionsOf(
  ca: string | undefined,
  { clientCertificate }: Connection = {},
): SecureContextOptions {
  const { cert, key, passphrase } = clientCertificate ?? {};
  return {
    ...(ca !== undefined && { ca: [...rootCertificates, ca] }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    ...(passphrase !== undefined && { passphrase }),
  };
}

/** Returns the secrets of a connection, which must never be shown. */
export function secretsOf(connection: Connection = {}, apiKey?: string): string[] {
  return [...Object.values(connection.headers ?? {}), ...(apiKey === undefined ? [] : [apiKey])];
}
