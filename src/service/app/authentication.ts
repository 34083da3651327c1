import { isLoopbackHost } from '../../platform/loopback.ts';
import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { ingestRequestsPerMinuteMax } from '../../contract/index.ts';
import type { Clock } from '../../platform/clock.ts';
import { RequestError } from '../domain/errors.ts';
import type { OwnerStore } from '../store/store.ts';
import type { UnauthorizedCallers } from './unauthorized-callers.ts';

/** Whose key a request carries. */
export interface Caller {
  ownerId: string;
  /** SHA-256 of the key, lower-case hexadecimal. */
  keyDigest: string;
}

/** Who may do what. */
export interface Authentication {
  /** Whose key the request carries (spec 5). @throws RequestError `unauthorized`. */
  caller(headers: IncomingHttpHeaders): Promise<Caller>;
  /**
   * Lets a request through that may use `/__admin`: on loopback any of this machine's own programs,
   * elsewhere the holder of the service's key. @throws RequestError `forbidden` or `unauthorized`.
   */
  checkAdmin(headers: IncomingHttpHeaders): void;
  /**
   * Whose session pages a browser may see: undefined for those of every owner, on loopback; else
   * those of the key, which is the password of HTTP Basic. @throws RequestError.
   */
  reader(headers: IncomingHttpHeaders): Promise<Caller | undefined>;
}

/** What the gate goes by. */
export interface AuthenticationOptions {
  /** The address that the service listens on. */
  host: string;
  owners: OwnerStore;
  /** Lower-case name of the header that holds the key. */
  apiKeyHeader: string;
  /** The key that opens `/__admin` when others can reach it. */
  apiKey: string;
  /** Told of each who wants to use the interface. */
  unauthorizedCallers: Pick<UnauthorizedCallers, 'recordRejected' | 'recordAccepted'>;
}

/** The gate of a service. */
export function createAuthentication(options: AuthenticationOptions): Authentication {
  const { host, owners, apiKeyHeader, apiKey, unauthorizedCallers } = options;
  const local = isLoopbackHost(host);
  const adminDigest = keyDigestOf(apiKey);

  const callerWith = async (
    key: string,
    what: string,
    headers: Record<string, string> = {},
  ): Promise<Caller> => {
    const digest = keyDigestOf(key);
    const found = key === '' ? undefined : await owners.findByKey(digest);
    if (found && sameDigest(found.keyDigest, digest)) return found;
    throw new RequestError(
      'unauthorized',
      `${apiKeyHeader} must hold an API key; ${what}`,
      headers,
    );
  };
  const keyIn = (headers: IncomingHttpHeaders): string => {
    const value = headers[apiKeyHeader];
    return typeof value === 'string' ? value : '';
  };
  return {
    async caller(headers) {
      const key = keyIn(headers);
      const what = whatIsWrong(key, headers);
      try {
        const caller = await callerWith(key, what);
        unauthorizedCallers.recordAccepted();
        return caller;
      } catch (error) {
        if (error instanceof RequestError) await unauthorizedCallers.recordRejected(what);
        throw error;
      }
    },
    checkAdmin(headers) {
      if (local) checkLocal(headers);
      else if (!sameDigest(keyDigestOf(keyIn(headers)), adminDigest)) {
        throw new RequestError('unauthorized', `${apiKeyHeader} must hold the key of this service`);
      }
    },
    async reader(headers) {
      if (local) {
        checkLocal(headers);
        return undefined;
      }
      const key = keyIn(headers) || passwordIn(headers);
      return callerWith(key, whatIsWrong(key, {}), {
        'www-authenticate': 'Basic realm="sandbox-kit", charset="UTF-8"',
      });
    },
  };
}

function whatIsWrong(key: string, { authorization }: IncomingHttpHeaders): string {
  if (key !== '') return 'nobody has the one that came';
  return authorization === undefined ? 'there is none' : 'there is none; Authorization is not read';
}

/** Whether a text can be a key: 8 to 256 visible ASCII characters. */
export function isKey(text: string): boolean {
  return /^[\x21-\x7e]{8,256}$/.test(text);
}

/** What a key is kept and looked up by. */
export function keyDigestOf(key: string): string {
  return hash('sha256', key, 'hex');
}

// Digests have one length whatever was sent, so the comparison tells nothing by its time.
function sameDigest(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(one), Buffer.from(other));
}

function passwordIn({ authorization = '' }: IncomingHttpHeaders): string {
  const [, encoded] = /^basic +(\S+)$/i.exec(authorization) ?? [];
  if (encoded === undefined) return '';
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  return text.slice(text.indexOf(':') + 1);
}

/**
 * A page in a browser of this machine must not get in: its name that leads here shows in Host, and
 * where it comes from in Origin.
 */
function checkLocal({ host, origin }: IncomingHttpHeaders): void {
  const [, name = ''] = /^(\[[^\]]*\]|[^:]*)(?::\d+)?$/.exec(host ?? '') ?? [];
  if (!isLoopbackHost(name.replace(/^\[|\]$/g, '').toLowerCase())) {
    throw new RequestError(
      'forbidden',
      'Host must name this machine: localhost or a loopback address',
    );
  }
  if (origin !== undefined && !origin.endsWith(`://${host ?? ''}`)) {
    throw new RequestError('forbidden', 'a page of another origin may not come in here');
  }
}

/** What the rate window says of a request. */
export type Admission =
  | { admitted: true }
  /** `isFirst`: the first that is refused since one was let in. */
  | { admitted: false; retryAfterS: number; isFirst: boolean };

/** Counts requests by key in an exact sliding window. */
export interface RateLimiter {
  /** Counts a request, unless it is refused: a refused one makes nobody wait longer. */
  countRequest(keyDigest: string): Admission;
  clear(): void;
}

const windowMs = 60_000;

// Only keys that exist are counted; a service with more of them forgets the ones out of use.
const keysMax = 10_000;

/** At most 120 requests within any 60 s for a key (spec 5, 8). */
export function createRateLimiter(clock: Clock): RateLimiter {
  const windows = new Map<string, { hitsMs: number[]; refused: boolean }>();
  const forgetUnused = (nowMs: number): void => {
    for (const [key, { hitsMs }] of windows) {
      if ((hitsMs.at(-1) ?? 0) <= nowMs - windowMs) windows.delete(key);
    }
  };
  return {
    countRequest(keyDigest) {
      const nowMs = clock.monotonicMs();
      if (windows.size >= keysMax) forgetUnused(nowMs);
      const window = windows.get(keyDigest) ?? { hitsMs: [], refused: false };
      windows.set(keyDigest, window);
      const { hitsMs } = window;
      while (hitsMs[0] !== undefined && hitsMs[0] <= nowMs - windowMs) hitsMs.shift();
      const [oldestMs] = hitsMs;
      if (oldestMs === undefined || hitsMs.length < ingestRequestsPerMinuteMax) {
        hitsMs.push(nowMs);
        window.refused = false;
        return { admitted: true };
      }
      const isFirst = !window.refused;
      window.refused = true;
      const retryAfterS = Math.max(1, Math.ceil((oldestMs + windowMs - nowMs) / 1000));
      return { admitted: false, retryAfterS, isFirst };
    },
    clear: () => windows.clear(),
  };
}
