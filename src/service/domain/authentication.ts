import type { IncomingHttpHeaders } from 'node:http';

/** The owner of the API key of a request. */
export interface Caller {
  ownerId: string;
  /** SHA-256 of the key, lower-case hexadecimal. */
  keyDigest: string;
}

/** Decides what a request may do. */
export interface Authentication {
  /** Returns the owner of the request's API key (spec 5). @throws RequestError `unauthorized`. */
  authenticateCaller(headers: IncomingHttpHeaders): Promise<Caller>;
  /**
   * Checks that a request may use `/__admin`: on loopback any program on this machine, on other
   * addresses the holder of the service's key.
   * @throws RequestError `forbidden` or `unauthorized`.
   */
  checkAdmin(headers: IncomingHttpHeaders): void;
  /**
   * Returns whose session pages a browser may see. Undefined, on loopback, means those of every
   * owner. On other addresses the password of HTTP Basic is the API key.
   * @throws RequestError `forbidden` or `unauthorized`.
   */
  authenticateReader(headers: IncomingHttpHeaders): Promise<Caller | undefined>;
}

/** Returns whether a text can be an API key: 8 to 256 visible ASCII characters. */
export function isKey(text: string): boolean {
  return /^[\x21-\x7e]{8,256}$/.test(text);
}
