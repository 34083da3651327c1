import type { IncomingHttpHeaders } from 'node:http';
import { authorityOf, digestKey, isSameDigest } from '../../http-kit/local-access.ts';
import type { Caller, PageAuthentication } from '../requests/authentication.ts';
import { RequestError } from '../requests/errors.ts';
import { SIGN_OUT_COOKIE, type PageSessions } from './page-sessions.ts';

export interface PageAuthenticationOptions {
  sessions: PageSessions;
  /** Returns the base URL of the service for browsers. */
  appUrl: () => string;
  /** The digest of the key whose sessions may change something. */
  adminDigest: string;
  /**
   * Returns whether a program on this machine sent a request, without a proxy.
   * @throws RequestError `forbidden` if a page of another site may have sent it.
   */
  checkLocal: (headers: IncomingHttpHeaders) => boolean;
  /** Finds the owner of a key. */
  findOwner: (keyDigest: string) => Promise<Caller | undefined>;
  /** Returns the owner of the key in the headers. @throws RequestError `unauthorized`. */
  findKeyOwner: (headers: IncomingHttpHeaders) => Promise<Caller>;
}

const QUOTE_CHARS_MAX = 100;

/** Quotes the value of a header, which any client can choose. */
const quote = (value: string): string => JSON.stringify(value.slice(0, QUOTE_CHARS_MAX));

/** Creates the authentication of pages. */
export function createPageAuthentication(options: PageAuthenticationOptions): PageAuthentication {
  const { sessions, appUrl, adminDigest, checkLocal, findOwner, findKeyOwner } = options;

  const checkOrigin = ({ host, origin }: IncomingHttpHeaders): void => {
    const sender = origin === undefined ? undefined : authorityOf(origin);
    const own = [host?.toLowerCase(), authorityOf(new URL(appUrl()).origin)];
    if (sender !== undefined && own.includes(sender)) return;
    const received = origin === undefined ? 'is missing' : `is ${quote(origin)}`;
    const expected = [...new Set(own)].flatMap((name) => (name ? quote(name) : [])).join(' or ');
    const message =
      `Origin ${received}, but must name this service: ${expected}. Send forms from its own ` +
      'pages. Behind a proxy, set --app-url to the address in the browser, or let the proxy ' +
      'forward Host.';
    throw new RequestError('forbidden', message);
  };
  const checkSender: PageAuthentication['checkSender'] = (headers, access) => {
    checkOrigin(headers);
    if (access.token !== undefined) return;
    const message =
      'Only a session that was started with the first API key of this service may change ' +
      'something. Sign in with that key.';
    throw new RequestError('forbidden', message);
  };
  return {
    checkSender,
    async authenticateReader(headers) {
      if (checkLocal(headers)) {
        return { ownerId: undefined, token: sessions.makeToken(), hasSession: false };
      }
      const session = sessions.find(headers);
      const owner = session && (await findOwner(session.keyDigest));
      if (!session || !owner) {
        const { ownerId } = await findKeyOwner(headers);
        return { ownerId, token: undefined, hasSession: false };
      }
      const mayChange = isSameDigest(session.keyDigest, adminDigest);
      const token = mayChange ? sessions.makeToken(session) : undefined;
      return { ownerId: owner.ownerId, token, hasSession: true };
    },
    checkForm(headers, access, token) {
      checkSender(headers, access);
      if (isSameDigest(digestKey(token), digestKey(access.token ?? ''))) return;
      const message =
        'The form is out of date: the service has restarted, or you have signed in again. Go ' +
        'back, reload the page, and send the form again.';
      throw new RequestError('forbidden', message);
    },
    async signIn(headers, key) {
      checkOrigin(headers);
      const keyDigest = digestKey(key);
      return (await findOwner(keyDigest)) && sessions.start(keyDigest);
    },
    async signOut(headers) {
      checkOrigin(headers);
      await sessions.end(headers);
      return SIGN_OUT_COOKIE;
    },
  };
}
