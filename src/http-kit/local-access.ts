import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isLoopbackHost } from '../platform/loopback.ts';

/**
 * Returns why a request to a loopback-only route may come from a foreign web page; undefined if it
 * can't. Such a page reaches a server on this machine through its own DNS name, which `Host` shows,
 * or from another origin, which `Origin` shows.
 */
export function findCrossSiteProblem({ host, origin }: IncomingHttpHeaders): string | undefined {
  if (!isLoopbackAuthority(host)) return 'Host must be localhost or a loopback address.';
  if (origin !== undefined && !origin.endsWith(`://${host ?? ''}`)) {
    return 'Pages of another origin must not use this route.';
  }
  return undefined;
}

/** Returns whether a `Host` header names this machine, with or without a port. */
export function isLoopbackAuthority(host: string | undefined): boolean {
  const [, name = ''] = /^(\[[^\]]*\]|[^:]*)(?::\d+)?$/.exec(host ?? '') ?? [];
  return isLoopbackHost(name.replace(/^\[|\]$/g, '').toLowerCase());
}

/** Returns the SHA-256 digest of a key in lower-case hexadecimal. */
export function digestKey(key: string): string {
  return hash('sha256', key, 'hex');
}

/** Compares two digests in constant time: they always have the same length. */
export function isSameDigest(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
