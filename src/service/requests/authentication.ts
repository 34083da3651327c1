import type { IncomingHttpHeaders } from 'node:http';

/** The owner of the API key of a request. */
export interface Caller {
  ownerId: string;
  /** SHA-256 of the key, lower-case hexadecimal. */
  keyDigest: string;
}

/** What a browser may see and change. */
export interface PageAccess {
  /** The owner whose data it may see; undefined, on loopback, for every owner. */
  ownerId: string | undefined;
  /** The token that its forms must contain; undefined if it may not change anything. */
  token: string | undefined;
  /** Whether it has a session, which it can end. */
  hasSession: boolean;
}

/** Decides what a request of a program may do. */
export interface Authentication {
  /** Returns the owner of the request's API key (spec 5). @throws RequestError `unauthorized`. */
  authenticateCaller(headers: IncomingHttpHeaders): Promise<Caller>;
  /**
   * Checks that a request may use `/__admin`: on loopback any program on this machine; on other
   * addresses, and through a proxy, the holder of the service's key.
   * @throws RequestError `forbidden` or `unauthorized`.
   */
  checkAdmin(headers: IncomingHttpHeaders): void;
}

/** Decides what a request for a page may do. */
export interface PageAuthentication {
  /**
   * Returns what a request for a page may see. On loopback every program on this machine may see and
   * change everything. On other addresses, and through a proxy, a browser needs a session, and a
   * program a key; only a session that was started with the service's key may change something, as
   * for `/__admin`.
   * @throws RequestError `forbidden` or `unauthorized`.
   */
  authenticateReader(headers: IncomingHttpHeaders): Promise<PageAccess>;
  /**
   * Checks that a form was sent from a page of this service by a reader who may change something.
   * @throws RequestError `forbidden`.
   */
  checkSender(headers: IncomingHttpHeaders, access: PageAccess): void;
  /** Checks the sender of a form, and its token. @throws RequestError `forbidden`. */
  checkForm(headers: IncomingHttpHeaders, access: PageAccess, token: string): void;
  /**
   * Starts a session for the holder of a key. Returns the `Set-Cookie` header, or undefined for an
   * unknown key. @throws RequestError `forbidden` if the form comes from a page of another site.
   */
  signIn(headers: IncomingHttpHeaders, key: string): Promise<string | undefined>;
  /**
   * Ends the session of a browser, and returns the `Set-Cookie` header that removes its cookie.
   * @throws RequestError like `signIn`.
   */
  signOut(headers: IncomingHttpHeaders): Promise<string>;
}

/** Returns whether a text can be an API key: 8 to 256 visible ASCII characters. */
export function isKey(text: string): boolean {
  return /^[\x21-\x7e]{8,256}$/.test(text);
}
