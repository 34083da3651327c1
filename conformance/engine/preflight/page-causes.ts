import { isObject } from '../../../src/platform/json.ts';
import type { Suite } from '../area.ts';
import { describePage, findHtmlPage } from '../transcript/html-page.ts';
import { isKeyRefused, type Exchange } from '../transcript/reading.ts';
import { isRedirect } from '../transcript/redirects.ts';
import type { BlockingCause, Preflight } from './blocking-cause.ts';

/** Returns whether a response is a page for people. Redirects often have one, which says nothing. */
function isHtml(exchange: Exchange): boolean {
  const { response, json } = exchange;
  return (
    response !== undefined &&
    !isRedirect(exchange) &&
    !isObject(json) &&
    (/^text\/html/i.test(response.headers['content-type'] ?? '') ||
      /^\s*<(!doctype|html)/i.test(response.body))
  );
}

const asksToLogIn = ({ response }: Exchange): boolean =>
  /<form|password|log[ -]?in|sign[ -]?in|single sign/i.test(response?.body ?? '');

/** Recognizes a peer that sends pages, or whose health check is a login. */
export function findLoginPage(
  exchanges: readonly Exchange[],
  { peer }: Suite,
): BlockingCause | undefined {
  const health = exchanges.find(({ endpoint }) => endpoint === 'health');
  const isLogin = health && isHtml(health) && asksToLogIn(health);
  const evidence = exchanges.every(isHtml) ? exchanges[0] : isLogin ? health : undefined;
  if (!evidence) return undefined;
  const page = findHtmlPage(evidence);
  const quote = page && page.quote !== '' ? `: ${JSON.stringify(page.quote)}` : '';
  return {
    id: 'login_page',
    message: `The response is an HTML page, not a response of a ${peer}${quote}.`,
    cure:
      page && page.sender !== 'sandbox'
        ? `It looks like ${page.name}. ${page.cure}.`
        : `A login page or a proxy may be in front of the ${peer}. Check the URL, or let these requests pass.`,
    evidence,
  };
}

/** Recognizes a page of something other than the check of the key, such as a CSRF check. */
export function findRefusalPage(preflight: Preflight, suite: Suite): BlockingCause | undefined {
  const keyed = suite.findKeyedExchange(preflight);
  const page = keyed && findHtmlPage(keyed);
  if (!keyed || !isKeyRefused(keyed) || page?.sender !== 'check') return undefined;
  return {
    id: 'refusal_page',
    message: `${keyed.request.method} ${keyed.request.path} gets ${keyed.response?.status} with ${describePage(page)}.`,
    cure: `${page.cure}.`,
    evidence: keyed,
  };
}
