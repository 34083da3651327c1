import { isObject } from '../../../src/platform/json.ts';
import { findBodyFault } from './json-fault.ts';
import { toPrintable, type Exchange } from './reading.ts';

/** An HTML page that came instead of JSON. */
export interface HtmlPage {
  /** What the page is, for example "nginx's error page"; empty if it is not known. */
  name: string;
  /** The title or heading and, for known pages, the reason, in one line. */
  quote: string;
  /** The fix: a sentence without the full stop. */
  cure: string;
  /** Whether the fix is a handler that sends errors as JSON. */
  needsHandler: boolean;
  /** Who sends it: a check that no key satisfies, a proxy, or the sandbox. */
  sender: 'check' | 'proxy' | 'sandbox';
}

/** What a page of a kind looks like, and what to do about it. */
interface PageKind {
  name: string;
  /** Recognizes the page by its markup. */
  pattern: RegExp;
  /** Finds the reason in the markup. */
  detail?: RegExp;
  cure: string | ((status: number) => string);
  sender?: HtmlPage['sender'];
}

const NO_COOKIE = 'the service sends a bearer key, and no cookie or CSRF token';

const csrf = (owner: string, pattern: RegExp, how: string, detail?: RegExp): PageKind => ({
  name: `${owner} CSRF check`,
  pattern,
  ...(detail && { detail }),
  cure: `Exempt the routes of the interface from the CSRF check${how}: ${NO_COOKIE}`,
  sender: 'check',
});

const framework = (name: string, pattern: RegExp, detail?: RegExp): PageKind => ({
  name,
  pattern,
  ...(detail && { detail }),
  cure: describeHandlerCure,
});

const isUnknownRoute = (status: number): boolean => status === 404 || status === 405;

function describeHandlerCure(status: number): string {
  if (isUnknownRoute(status)) return 'Check that the sandbox serves this route';
  const log = status >= 500 ? 'Find this error in the log of the sandbox. ' : '';
  return `${log}Add an error handler that sends errors as JSON`;
}

function describeProxyCure(status: number): string {
  if (status === 413) {
    return 'Raise the size limit of the proxy, in nginx client_max_body_size';
  }
  if (status === 504) {
    return 'The sandbox did not respond to the proxy in time: raise the timeout of the proxy, or respond faster';
  }
  if (status === 502 || status === 503) {
    return 'The proxy got no response from the sandbox: see the logs of both';
  }
  if (status === 401 || status === 403) return 'Let the requests of the service pass the proxy';
  if (isUnknownRoute(status)) return 'Let the proxy pass these paths on to the sandbox';
  if (status === 429) return 'Raise the request limit of the proxy';
  return 'Look at the configuration of the proxy: this page does not come from the sandbox';
}

const proxy = (owner: string, pattern: RegExp): PageKind => ({
  name: `${owner} error page`,
  pattern,
  cure: describeProxyCure,
  sender: 'proxy',
});

/** The first kind that fits is the kind of a page. */
const kinds: readonly PageKind[] = [
  csrf(
    "Django's",
    /CSRF verification failed/,
    ', for example with @csrf_exempt',
    /<p>(CSRF [^<]*)/,
  ),
  csrf(
    "Rails'",
    /InvalidAuthenticityToken|verify CSRF token/,
    ', for example with skip_forgery_protection',
    /<h2[^>]*>([^<]*CSRF[^<]*)/,
  ),
  csrf("Laravel's", /<title>Page Expired/, ': put them into routes/api.php'),
  {
    name: "Cloudflare's bot check",
    pattern:
      /challenge-platform|_cf_chl_opt|<title>Just a moment|Attention Required! \| Cloudflare/,
    cure: 'Add a rule in Cloudflare that lets requests to these paths pass without a challenge',
    sender: 'check',
  },
  framework(
    "Django's debug page",
    /because you have <code>DEBUG = True/,
    /<pre class="exception_value">([^<]*)/,
  ),
  framework(
    "Rails' debug page",
    /Action Controller: Exception caught|<header role="banner">\s*<h1>/,
  ),
  framework("Rails' error page", /<title>We're sorry, but something went wrong/),
  framework("Werkzeug's debugger", /Werkzeug Debugger|__debugger__/),
  framework("Symfony's debug page", /Symfony Exception|sf-toolbar|class="exception-message/),
  framework("Laravel's debug page", /Illuminate\\|laravel-ignition|flareapp/i),
  framework(
    "Spring's whitelabel error page",
    /Whitelabel Error Page/,
    /unexpected error \(([^)]*)\)/,
  ),
  framework("Tomcat's error page", /Apache Tomcat|<title>HTTP Status \d{3}/),
  framework("Jetty's error page", /Powered by Jetty|<title>Error \d{3} /),
  framework(
    "ASP.NET's developer exception page",
    /An unhandled exception occurred while processing the request/,
  ),
  framework("Sinatra's debug page", /Sinatra(?: doesn|::)|Rack::ShowExceptions/),
  framework("Phoenix's debug page", /Plug\.Debugger|phx-error/),
  framework("Express's error page", /<title>Error<\/title>[^]*<pre>/, /<pre>([^<]*)/),
  framework("Flask's error page", /^<!doctype html>\s*<html lang=en>\s*<title>/),
  framework(
    "the error page of Python's http.server",
    /<title>Error response<\/title>/,
    /<p>Message: ([^<]*)/,
  ),
  {
    name: 'a message of PHP',
    pattern: /<b>(?:Fatal error|Parse error|Warning|Notice|Deprecated)<\/b>:/,
    detail: /(<b>(?:Fatal|Parse|Warning|Notice|Deprecated)[^]*? on line <b>\d+)/,
    cure: 'Fix what PHP reports, set display_errors to Off, and send errors as JSON with their own status',
  },
  csrf('a', /<(?:title|h1|h2|p|pre)[^>]*>[^<]{0,200}\bCSRF\b/i, ''),
  {
    name: 'a login page',
    pattern:
      /type=["']?password|<form[^>]*(?:log|sign)-?in|<(?:title|h1)[^>]*>[^<]*(?:\blog ?in\b|\bsign ?in\b|single sign)/i,
    cure: 'Let requests to these paths pass without a login: the service sends a bearer key and has no session',
    sender: 'check',
  },
  proxy("nginx's", /<center>(?:nginx|openresty|Tengine)/i),
  proxy("Apache's", /<address>Apache|<p>Additionally, a \d{3}/),
  proxy("HAProxy's", /No server is available to handle this request/),
  proxy("AWS's", /<center>awselb/),
  proxy("Cloudflare's", /cloudflare/i),
  proxy("a proxy's", /<(?:title|h1)>(?:413|50[234]) /),
];

const pages = new WeakMap<Exchange, { page: HtmlPage | undefined }>();

/** Returns the HTML page that an exchange got instead of JSON; undefined if the body is something else. */
export function findHtmlPage(exchange: Exchange): HtmlPage | undefined {
  const known = pages.get(exchange) ?? { page: readPage(exchange) };
  pages.set(exchange, known);
  return known.page;
}

/** Longer pages are judged by their beginning. */
const LENGTH_MAX = 64 * 1024;

function readPage({ response, json }: Exchange): HtmlPage | undefined {
  const { status = 0, body = '', headers = {} } = response ?? {};
  const isMarked = /^text\/html|^application\/xhtml/i.test(headers['content-type'] ?? '');
  const start = body.slice(0, LENGTH_MAX);
  if (isObject(json) || !(startsAsHtml(start) || (isMarked && /<\w+[\s>]/.test(start))))
    return undefined;
  // A message of PHP before JSON is not a page.
  if (response && findBodyFault(response)?.value) return undefined;
  const kind = kinds.find(({ pattern }) => pattern.test(start));
  const { name = '', cure = describeOtherCure, sender = 'sandbox' } = kind ?? {};
  const isOfSandbox = cure === describeHandlerCure || (!kind && status >= 400);
  return {
    name,
    quote: quotePage(start, kind?.detail),
    cure: typeof cure === 'function' ? cure(status) : cure,
    needsHandler: isOfSandbox && !isUnknownRoute(status),
    sender,
  };
}

/** Returns whether a text starts as HTML does, perhaps after a message of PHP. */
const startsAsHtml = (text: string): boolean =>
  /^\s*<(?:!doctype|!--|html|head|title|body|h1|center|br|b)\b/i.test(text);

const describeOtherCure = (status: number): string =>
  status < 400
    ? 'Find out what responds at this path: the interface has only JSON'
    : describeHandlerCure(status);

/** The longest part of a quotation. */
const PART_LENGTH_MAX = 130;

/** Quotes the title and the first heading, or the title and the reason. */
function quotePage(page: string, detail: RegExp | undefined): string {
  const title = /<title[^>]*>([^<]*)/i.exec(page)?.[1] ?? '';
  const heading = /<h1[^>]*>(.*?)<\/h1>/is.exec(page)?.[1] ?? '';
  const reason = (detail && detail.exec(page)?.[1]) ?? '';
  const parts = [title, reason === '' ? heading : reason]
    .map((part) => toPrintable(toText(part), PART_LENGTH_MAX).replace(/\.+$/, ''))
    .filter((part) => part !== '');
  const [first = '', second = ''] = parts;
  if (first === '') return toPrintable(toText(page), PART_LENGTH_MAX);
  return second === '' || hasWordsOf(first, second) ? first : `${first}: ${second}`;
}

/** Returns whether a text has all words of another one. */
function hasWordsOf(text: string, other: string): boolean {
  const words = new Set(text.toLowerCase().match(/\w+/g));
  return (other.toLowerCase().match(/\w+/g) ?? []).every((word) => words.has(word));
}

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  rsquo: '’',
};

/** Returns the text of markup. */
function toText(markup: string): string {
  const text = markup
    .replaceAll(/<(style|script)\b.*?<\/\1>/gis, ' ')
    .replaceAll(/<\/?(?:b|i|em|strong|span|code)\b[^>]*>/gi, '')
    .replaceAll(/<[^>]*>/g, ' ');
  return unescapeHtml(text);
}

/** Returns a text with characters in place of their HTML entities. */
export const unescapeHtml = (text: string): string =>
  text.replaceAll(/&(?:#(\d{1,6})|#x([\da-f]{1,5})|(\w+));/gi, (entity, decimal, hex, name) =>
    name === undefined
      ? toCharacter(Number(decimal ?? `0x${String(hex)}`))
      : (entities[String(name)] ?? entity),
  );

const toCharacter = (code: number): string => (code <= 0x10ffff ? String.fromCodePoint(code) : ' ');

/** Describes a page in one line: `an HTML page (a login page): "Sign in"`. */
export const describePage = ({ name, quote }: HtmlPage): string =>
  `an HTML page${name === '' ? '' : ` (${name})`}: ${JSON.stringify(quote)}`;
