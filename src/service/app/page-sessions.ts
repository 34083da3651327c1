import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { digestKey, isSameDigest } from '../../http-kit/local-access.ts';
import type { Clock } from '../../platform/clock.ts';
import { forgetOldest } from '../../platform/forget-oldest.ts';
import { randomHex } from '../../platform/random.ts';
import type { StateSharing } from '../background/shared-state.ts';

/**
 * The sessions of browsers that use the pages of a service. They end when the service stops: with several
 * replicas, when the last one stops.
 */
export interface PageSessions {
  /** Starts a session for the holder of a key, and returns the `Set-Cookie` header. */
  start(keyDigest: string): string;
  /** Returns the session that a request belongs to; undefined if it has none, or if it has expired. */
  find(headers: IncomingHttpHeaders): PageSession | undefined;
  /** Ends the session that a request belongs to: a copy of its cookie is then worth nothing. */
  end(headers: IncomingHttpHeaders): Promise<void>;
  /** Returns the token for the forms of a session, or of browsers that need no session. */
  makeToken(session?: PageSession): string;
}

interface PageSession {
  /** The random part of the cookie. */
  nonce: string;
  /** The key that the session was started with. It must still be valid. */
  keyDigest: string;
  expiresAtMs: number;
}

const COOKIE = 'sandbox_kit_session';
const SESSION_MS = 12 * 3_600_000;
/** The ended sessions that are remembered. */
const ENDED_MAX = 10_000;
const SHARED_ENDED_MAX = 1_000;

/**
 * Creates the sessions of a service. A cookie contains its session, signed with a secret of the
 * service, so only the sessions that were ended have to be remembered.
 * @param isSecure Whether browsers reach the service by HTTPS only.
 * @param sharing Shares the secret and the ended sessions with other replicas.
 */
export function createPageSessions(
  clock: Clock,
  isSecure: () => boolean,
  sharing?: StateSharing,
): PageSessions {
  let secret = randomHex(32);
  const sign = (purpose: string, text: string): string =>
    createHmac('sha256', secret).update(`${purpose}:${text}`).digest('hex');
  const ended = new Set<string>();
  const rememberEnd = (nonce: string): void => {
    ended.add(nonce);
    forgetOldest(ended, ENDED_MAX);
  };
  sharing?.onChange((state) => {
    secret = state.pageSecret;
    for (const { nonce } of state.endedPageSessions) rememberEnd(nonce);
  });
  const find: PageSessions['find'] = ({ cookie = '' }) => {
    for (const pair of cookie.split(';')) {
      const [name = '', value = ''] = pair.trim().split('=');
      const [nonce = '', keyDigest = '', expiresAtMs = '', signature = ''] = value.split('.');
      const text = [nonce, keyDigest, expiresAtMs].join('.');
      // Digests have the same length, which a signature from the cookie may not have.
      const isSigned = isSameDigest(digestKey(signature), digestKey(sign('session', text)));
      const isOpen = clock.nowMs() < Number(expiresAtMs) && !ended.has(nonce);
      if (name === COOKIE && isSigned && isOpen) {
        return { nonce, keyDigest, expiresAtMs: Number(expiresAtMs) };
      }
    }
    return undefined;
  };
  return {
    find,
    start(keyDigest) {
      const content = [randomHex(16), keyDigest, clock.nowMs() + SESSION_MS];
      const text = content.join('.');
      return [
        `${COOKIE}=${text}.${sign('session', text)}`,
        // A link from another site must open the page; forms of other sites lack the token.
        ...['Path=/', 'HttpOnly', 'SameSite=Lax', `Max-Age=${SESSION_MS / 1000}`],
        ...(isSecure() ? ['Secure'] : []),
      ].join('; ');
    },
    async end(headers) {
      const session = find(headers);
      if (!session) return;
      rememberEnd(session.nonce);
      const { nonce, expiresAtMs } = session;
      await sharing?.change((state) => {
        const lasting = state.endedPageSessions.filter((each) => each.expiresAtMs > clock.nowMs());
        state.endedPageSessions = [...lasting, { nonce, expiresAtMs }].slice(-SHARED_ENDED_MAX);
      });
    },
    makeToken: (session) => sign('form', session?.nonce ?? 'loopback'),
  };
}

/** The `Set-Cookie` header that ends the session of a browser. */
export const SIGN_OUT_COOKIE = `${COOKIE}=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0`;
