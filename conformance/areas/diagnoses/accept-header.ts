import type { RunRecord } from '../../../src/contract/index.ts';
import { describePage, findHtmlPage } from '../../engine/transcript/html-page.ts';
import {
  isAccepted,
  isRateLimited,
  isRefused,
  toPrintable,
  type Exchange,
  type Transcript,
} from '../../engine/transcript/reading.ts';
import { conformingResponse } from './conforming-response.ts';
import { describeSeen, findExample, nonEmpty, type Diagnosis } from './seen.ts';

/**
 * Recognizes a sandbox that requires the header Accept, or refuses it, perhaps with a page for browsers.
 * The header is optional (spec 4.6).
 */
export function findAcceptHeader({ run, exchanges }: Transcript): Diagnosis[] {
  const requests = exchanges.filter(({ endpoint }) => endpoint !== 'voice');
  const withHeader = requests.filter((exchange) => acceptOf(exchange) !== undefined);
  const without = requests.filter((exchange) => acceptOf(exchange) === undefined);
  return [...explain(without, withHeader, run), ...explain(withHeader, without, run)];
}

const acceptOf = ({ request }: Exchange): string | undefined => request.headers['accept'];

function describeHeader(exchange: Exchange): string {
  const value = acceptOf(exchange);
  return value === undefined
    ? 'without the header Accept'
    : `with Accept: ${toPrintable(value, 40)}`;
}

/** Explains refusals of requests that are alike in having or lacking the header; `others` are not. */
function explain(
  alike: readonly Exchange[],
  others: readonly Exchange[],
  run: RunRecord,
): Diagnosis[] {
  const isDueToHeader = (exchange: Exchange): boolean => {
    if (!isTurnedAway(exchange)) return false;
    if (listSame(alike, exchange).some(isServed)) return false;
    // Without the other form of the request, only the status shows what is wrong.
    const contrary = listSame(others, exchange);
    return contrary.length === 0
      ? exchange.response?.status === NOT_ACCEPTABLE
      : contrary.some(isServed);
  };
  const seen = nonEmpty(alike.filter(isDueToHeader));
  if (!seen) return [];
  const example = findExample(seen);
  const other = listSame(others, example).find(isServed);
  const page = findHtmlPage(example);
  const outcome = `${example.response?.status}${page ? ` with ${describePage(page)}` : ''}`;
  const contrast = other
    ? `, and ${other.response?.status} ${describeHeader(other)} (exchange ${other.id})`
    : '';
  return [
    {
      seen,
      fault: `requests ${describeHeader(example)} get ${outcome} (${describeSeen(seen)})${contrast}`,
      cure: 'Send JSON whether or not a request has the header Accept',
      repair: (exchange) => conformingResponse(exchange, run),
    },
  ];
}

const NOT_ACCEPTABLE = 406;

const isServed = (exchange: Exchange): boolean => isAccepted(exchange) && !findHtmlPage(exchange);

/** Returns whether a request got a refusal, or a page. */
const isTurnedAway = (exchange: Exchange): boolean =>
  isAccepted(exchange) ? !isServed(exchange) : isRefused(exchange) && !isRateLimited(exchange);

/** Returns the exchanges with the route of another one. */
const listSame = (exchanges: readonly Exchange[], { endpoint }: Exchange): Exchange[] =>
  exchanges.filter((other) => other.endpoint === endpoint);
