/** URLs in options and arguments: which are valid, and how messages show them. */
import { isIPv6 } from 'node:net';
import { canBeSandbox } from './address-scope.ts';
import { isLoopbackHost } from './loopback.ts';

/** A valid base URL without trailing slashes, or the problem of a text. */
export type ParsedBaseUrl =
  | { url: string; problem?: undefined }
  | {
      url?: undefined;
      /** Reads after the name of the option, and ends with a full stop or a question mark. */
      problem: string;
    };

/**
 * Parses an http or https base URL. Paths are appended to it, so it has no query and no fragment.
 *
 * @param expected Completes "must be …".
 * @param keyHint What to do with a password in the URL, as a sentence.
 */
export function parseBaseUrl(
  text: string,
  { expected, keyHint }: { expected: string; keyHint: string },
): ParsedBaseUrl {
  const url = URL.parse(text);
  if (!url && hasInvalidPort(text)) {
    return { problem: `must have a port of at most ${PORT_MAX}, got ${quoteUrl(text)}.` };
  }
  if (!url || !/^https?:\/\//i.test(text)) {
    return { problem: `must be ${expected}, got ${quoteUrl(text)}.${suggestScheme(text)}` };
  }
  const problem = findUrlProblem(text);
  if (problem !== undefined) return { problem: `${problem}.` };
  if (url.username !== '' || url.password !== '') {
    return { problem: `must not contain a user name or password. ${keyHint}` };
  }
  const base = `${url.origin}${url.pathname}`.replace(/\/+$/, '');
  if (url.search !== '' || url.hash !== '') {
    return { problem: `must not contain ? or #. Did you mean ${base}?` };
  }
  const endpoint = ENDPOINTS.find((path) => base.endsWith(path));
  if (endpoint !== undefined) {
    const problem = `must be ${expected}, got the address of an endpoint, ${quoteUrl(text)}.`;
    return { problem: `${problem} Did you mean ${base.slice(0, -endpoint.length)}?` };
  }
  return { url: base };
}

/**
 * Returns why no request must be sent to a URL, to be read after its name; undefined if it may be. No
 * sandbox has a link-local address, but the metadata service of a cloud provider has one.
 */
export function findUrlProblem(text: string): string | undefined {
  const url = URL.parse(text);
  if (!url) return `must be a valid URL with a port of at most ${PORT_MAX}, got ${quoteUrl(text)}`;
  if (canBeSandbox(url.hostname)) return undefined;
  return `must not be a link-local, multicast, or metadata address, got ${quoteUrl(text)}`;
}

const PORT_MAX = 65_535;

const hasInvalidPort = (text: string): boolean =>
  Number(/^https?:\/\/[^/?#]*:(\d+)(?:[/?#]|$)/i.exec(text)?.[1]) > PORT_MAX;

/** Returns whether a text is a URL that HTTP requests can be sent to. */
export const isHttpUrl = (text: string): boolean =>
  /^https?:$/.test(URL.parse(text)?.protocol ?? '');

/** Paths of the interface, which the kit appends to a base URL. */
const ENDPOINTS = [
  ...['/v1/chat/completions', '/v1/traces'],
  ...['/api/prod-evaluations/sessions', '/api/simulations/sessions'],
];

/**
 * Quotes a refused URL without its user, query, and fragment, which may contain a key. It need not be
 * a valid URL, so everything before the last @ counts as the user.
 */
export const quoteUrl = (text: string): string => JSON.stringify(maskUrl(text));

// The user comes first, because an unencoded password may contain ? and #.
const maskUrl = (text: string): string =>
  text.replace(/^(\w+:[/\\]+)?.*@/s, '$1…@').replace(/[?#].*$/s, '');

/**
 * Masks all URLs in a message, as `quoteUrl` does, except for the placeholder USER:PASSWORD. Only quoted
 * URLs may contain spaces.
 */
export function maskUrls(message: string): string {
  return message
    .replaceAll(/(?<=")[a-z][\w+.-]*:[/\\](?:[^"\\]|\\.)*(?=")/gis, maskUrl)
    .replaceAll(
      /\w+:[/\\]+(?![/\\]|USER:PASSWORD@)[^\s"]*@[^\s"]*?(?=[.,)]*(?:[\s"]|$))/g,
      maskUrl,
    );
}

/** Suggests the URL for text that is a host with a dot or a port, or `localhost`. */
function suggestScheme(text: string): string {
  const [, host = '', port] = /^([\w.-]+)(:\d+)?(?:\/[^?#@]*)?$/.exec(text) ?? [];
  const isLocal = isLoopbackHost(host);
  if (!isLocal && port === undefined && !/\w\.\w/.test(host)) return '';
  return ` Did you mean ${isLocal ? 'http' : 'https'}://${text}?`;
}

/** Formats the host and port of a URL; an IPv6 address gets brackets. */
export const formatAuthority = (host: string, port: number | string): string =>
  `${isIPv6(host) ? `[${host}]` : host}:${port}`;

/** Returns whether two URLs lead to the same sandbox. */
export const isSameUrl = (left: string, right: string): boolean =>
  normalizeUrl(left) === normalizeUrl(right);

const normalizeUrl = (url: string): string => (URL.parse(url)?.href ?? url).replace(/\/+$/, '');
