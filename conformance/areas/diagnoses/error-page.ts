import { ERROR_SHAPE } from '../../engine/checks/responses.ts';
import { describePage, findHtmlPage, type HtmlPage } from '../../engine/transcript/html-page.ts';
import { isRefused, type Exchange, type Transcript } from '../../engine/transcript/reading.ts';
import { isRedirect } from '../../engine/transcript/redirects.ts';
import { conformingResponse, expectedCodeOf, respondWithError } from './conforming-response.ts';
import { describeSeen, findExample, nonEmpty, type Diagnosis } from './seen.ts';

/** Recognizes HTML pages that come instead of JSON, for each sender. */
export function findErrorPages({ run, exchanges }: Transcript): Diagnosis[] {
  const shown = exchanges.flatMap((exchange) => {
    const page = exchange.endpoint === 'voice' ? undefined : findHtmlPage(exchange);
    return page && !isRedirect(exchange) ? [{ exchange, page }] : [];
  });
  const groups = Map.groupBy(shown, ({ page: { name, cure } }) => `${name} ${cure}`);
  return [...groups.values()].flatMap((group) => {
    const seen = nonEmpty(group.map(({ exchange }) => exchange));
    const page = seen && findHtmlPage(findExample(seen));
    if (!page) return [];
    const { status } = findExample(seen).response ?? {};
    return [
      {
        seen,
        fault: `requests get ${status} with ${describePage(page)} (${describeSeen(seen)})`,
        cure: page.needsHandler ? `${page.cure}: ${ERROR_SHAPE}` : page.cure,
        repair(exchange) {
          if (!isHandled(exchange, page)) return conformingResponse(exchange, run);
          const status = exchange.response?.status ?? 400;
          return respondWithError(status, expectedCodeOf(exchange, status));
        },
      },
    ];
  });
}

/** Returns whether the sandbox itself refused the request, so that only the body is wrong. */
const isHandled = (exchange: Exchange, { sender }: HtmlPage): boolean =>
  sender === 'sandbox' && exchange.intent !== 'valid' && isRefused(exchange);
