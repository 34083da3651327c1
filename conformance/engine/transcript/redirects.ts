import { toPrintable, type Exchange } from './reading.ts';

const REDIRECTS = [301, 302, 303, 307, 308];

/** Returns whether the response of an exchange is a redirect. */
export function isRedirect({ response }: Exchange): boolean {
  return response !== undefined && REDIRECTS.includes(response.status);
}

/** The destination of a redirect, and the fix. */
interface RedirectTexts {
  /** The path on the same server, any other location in full, or `nowhere`. */
  destination: string;
  /** A sentence without the full stop. */
  cure: string;
}

/** Describes the redirect of a request that was sent to the base URL `target`. */
export function describeRedirect({ request, response }: Exchange, target: string): RedirectTexts {
  const location = response?.headers['location'];
  const from = URL.parse(`${target.replace(/\/+$/, '')}${request.path}`);
  const to = location === undefined ? null : URL.parse(location, from?.href);
  return {
    destination:
      location === undefined ? 'nowhere' : toPrintable(shortenLocation(location, from?.origin)),
    cure: from && to ? cureOf(from, to, { path: request.path, target }) : NO_REDIRECT,
  };
}

const NO_REDIRECT = 'Serve the route without a redirect';

function shortenLocation(location: string, origin = ''): string {
  const isSame = origin !== '' && location.startsWith(`${origin}/`);
  return isSame ? location.slice(origin.length) : location;
}

function cureOf(from: URL, to: URL, request: { path: string; target: string }): string {
  if (to.pathname === `${from.pathname}/`) return 'Serve the path without a slash at its end';
  if (`${to.pathname}/` === from.pathname) return 'Serve the path with the slash at its end';
  const [path = ''] = request.path.split('?');
  const base = `${to.origin}${to.pathname.slice(0, -path.length)}`;
  const isMoved = to.pathname.endsWith(path) && /^https?:$/.test(to.protocol);
  return isMoved && base !== request.target.replace(/\/+$/, '')
    ? `Use the base URL ${toPrintable(base)}, or serve the route here without a redirect`
    : NO_REDIRECT;
}
