import type { Exchange } from './reading.ts';

/** What else a 404 with the default body of Koa can mean: a sentence without the full stop. */
export const KOA_NOT_FOUND =
  'In Koa, a known route also responds like this if a middleware does not await next() or a handler is not awaited';

/** Returns whether a response is the 404 that Koa sends if nothing has set a body until then. */
export const isKoaNotFound = ({ response }: Exchange): boolean =>
  response?.status === 404 &&
  response.body === 'Not Found' &&
  /^text\/plain\b/i.test(response.headers['content-type'] ?? '');
