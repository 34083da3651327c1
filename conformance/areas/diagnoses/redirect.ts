import { toPrintable, type Exchange, type Transcript } from '../../engine/transcript/reading.ts';
import { conformingResponse } from './conforming-response.ts';
import { describeSeen, findExample, nonEmpty, type Diagnosis } from './seen.ts';

const REDIRECTS = [301, 302, 303, 307, 308];

/** Recognizes routes that redirect. */
export function findRedirects({ run, exchanges }: Transcript): Diagnosis[] {
  const seen = nonEmpty(
    exchanges.filter(
      ({ endpoint, response }) =>
        endpoint !== 'voice' && response !== undefined && REDIRECTS.includes(response.status),
    ),
  );
  if (!seen) return [];
  const example = findExample(seen);
  const location = example.response?.headers['location'];
  const target = location === undefined ? 'nowhere' : `to ${shortenLocation(location, run.target)}`;
  return [
    {
      seen,
      fault: `requests are redirected with ${example.response?.status} ${target} (${describeSeen(seen)}), and redirects are not followed`,
      cure: cureOf(example, location ?? '', run.target),
      repair: (exchange) => conformingResponse(exchange, run),
    },
  ];
}

/** Returns the path of a location on the same server, and any other location in full. */
function shortenLocation(location: string, target: string): string {
  const { origin } = URL.parse(target) ?? {};
  const isSame = origin !== undefined && location.startsWith(`${origin}/`);
  return toPrintable(isSame ? location.slice(origin.length) : location);
}

function cureOf({ request }: Exchange, location: string, target: string): string {
  const to = URL.parse(location, `${target.replace(/\/+$/, '')}${request.path}`);
  const from = URL.parse(`${target.replace(/\/+$/, '')}${request.path}`);
  if (to && from && to.pathname === `${from.pathname}/`) {
    return 'Serve the path without a slash at its end';
  }
  return to && from && to.pathname === from.pathname && to.origin !== from.origin
    ? `Check ${toPrintable(to.origin)} instead, or serve the route here without a redirect`
    : 'Serve the route without a redirect';
}
