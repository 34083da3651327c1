import { describeRedirect, isRedirect } from '../../engine/transcript/redirects.ts';
import type { Transcript } from '../../engine/transcript/reading.ts';
import { conformingResponse } from './conforming-response.ts';
import { describeSeen, findExample, nonEmpty, type Diagnosis } from './seen.ts';

/** Recognizes routes that redirect. */
export function findRedirects({ run, exchanges }: Transcript): Diagnosis[] {
  const seen = nonEmpty(
    exchanges.filter((exchange) => exchange.endpoint !== 'voice' && isRedirect(exchange)),
  );
  if (!seen) return [];
  const example = findExample(seen);
  const { destination, cure } = describeRedirect(example, run.target);
  const to = destination === 'nowhere' ? destination : `to ${destination}`;
  return [
    {
      seen,
      fault: `requests are redirected with ${example.response?.status} ${to} (${describeSeen(seen)}), and redirects are not followed`,
      cure,
      repair: (exchange) => conformingResponse(exchange, run),
    },
  ];
}
