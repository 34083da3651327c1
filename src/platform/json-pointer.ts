/** JSON pointers (RFC 6901), such as `/choices/0/message`. */

/** Returns a key as a pointer contains it. */
export const escapePointerKey = (key: string): string =>
  key.replaceAll('~', '~0').replaceAll('/', '~1');

/** Returns a key of a pointer as the document contains it. */
export const unescapePointerKey = (key: string): string =>
  key.replaceAll('~1', '/').replaceAll('~0', '~');
