import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isLoopbackHost } from '../platform/loopback.ts';

const WRONG_HOST = 'Host must be localhost or a loopback address.';

/**
 * Returns why a request to a loopback-only route may come from a foreign web page; undefined if it
 * can't. Such a page reaches a server on this machine through its own DNS name, which `Host` shows,
 * or from another origin, which `Origin` shows.
 */
export function findCrossSiteProblem({ host, origin }: IncomingHttpHeaders): string | undefined {
  if (!isLoopbackAuthority(host)) return WRONG_HOST;
  if (origin !== undefined && authorityOf(origin) !== host?.toLowerCase()) {
    return 'Pages of another origin must not use this route.';
  }
  return undefined;
}

/**
 * Returns why a request may come from a web page of another machine; undefined if it can't. Pages of
 * other servers on this machine are allowed.
 */
export function findForeignPageProblem({ host, origin }: IncomingHttpHeaders): string | undefined {
  if (!isLoopbackAuthority(host)) return WRONG_HOST;
  if (origin !== undefined && !isLoopbackAuthority(authorityOf(origin))) {
    return 'Pages of other machines must not use this agent.';
  }
  return undefined;
}

/** The headers that proxies add. A proxy on this machine may also replace `Host`. */
const FORWARDING_HEADERS = [
  ...['Forwarded', 'X-Forwarded-For', 'X-Forwarded-Host', 'X-Forwarded-Proto'],
  ...['X-Real-IP', 'X-Client-IP', 'X-Cluster-Client-IP', 'Via'],
  // Content delivery networks and hosting platforms.
  ...['CF-Connecting-IP', 'CF-Connecting-IPv6', 'True-Client-IP', 'Fastly-Client-IP'],
  ...['X-Azure-ClientIP', 'X-Azure-SocketIP', 'Fly-Client-IP', 'CloudFront-Viewer-Address'],
];

/**
 * Returns the name of a header which shows that a proxy forwarded a request, possibly for a caller on
 * another machine; undefined if the request has no such header.
 */
export function findForwardingHeader(headers: IncomingHttpHeaders): string | undefined {
  // CGI and its relatives can't tell `X_Forwarded_For` from `X-Forwarded-For`.
  const names = new Set(Object.keys(headers).map((name) => name.replaceAll('_', '-')));
  return FORWARDING_HEADERS.find((name) => names.has(name.toLowerCase()));
}

/** Returns the host and port of an `Origin` header; undefined if the origin is malformed or null. */
export function authorityOf(origin: string): string | undefined {
  return /^https?:\/\/([^\s/?#@]+)$/i.exec(origin)?.[1]?.toLowerCase();
}

/** Returns whether a request has several `Host` headers. Node would use the first one. */
function hasSeveralHosts({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): boolean {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  return hosts > 1;
}

/**
 * Returns why the host of a request is unclear; undefined if it is clear. HTTP/1.1 requires one `Host`
 * header (RFC 9112, 3.2), and the URL of a request to a proxy names a host as well (3.2.2).
 */
export function findHostProblem(request: IncomingMessage): string | undefined {
  const { url = '', headers, httpVersion } = request;
  if (hasSeveralHosts(request)) return 'The request has more than one Host header.';
  if (headers.host === undefined && httpVersion === '1.1') return 'The request has no Host header.';
  if (url.startsWith('/') || url === '*') return undefined;
  const [, authority] = /^https?:\/\/([^/?#]*)/i.exec(url) ?? [];
  if (authority?.toLowerCase() === headers.host?.toLowerCase()) return undefined;
  return 'The URL of the request names a different host than its Host header.';
}

/** Returns whether a `Host` header names this machine, with or without a port. */
export function isLoopbackAuthority(host: string | undefined): boolean {
  const [, name = ''] = /^(\[::1\]|[a-z0-9.-]+)(?::\d{1,5})?$/i.exec(host ?? '') ?? [];
  return isLoopbackHost(name);
}

/** Returns the SHA-256 digest of a key in lower-case hexadecimal. */
export function digestKey(key: string): string {
  return hash('sha256', key, 'hex');
}

/** Compares two digests in constant time: they always have the same length. */
export function isSameDigest(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
