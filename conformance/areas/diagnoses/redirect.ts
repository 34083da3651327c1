import type { Exchange, Transcript } from '../../engine/transcript/reading.ts';
import { describeRedirect, isRedirect } from '../../engine/transcript/redirects.ts';
import { conformingResponse } from './conforming-response.ts';
import { describeSeen, findExample, nonEmpty, type Diagnosis } from './seen.ts';

/** Recognizes routes that redirect. */
export const findRedirects = ({ run, exchanges }: Transcript): Diagnosis[] =>
  diagnoseRedirects(
    exchanges.filter(({ endpoint }) => endpoint !== 'voice'),
    run.target,
    (exchange) => conformingResponse(exchange, run),
  );

/** Explains the redirects among some exchanges with a peer, whose URL is `target`. */
export function diagnoseRedirects(
  exchanges: readonly Exchange[],
  target: string,
  repair: Diagnosis['repair'],
): Diagnosis[] {
  const seen = nonEmpty(exchanges.filter(isRedirect));
  if (!seen) return [];
  const example = findExample(seen);
  const { destination, cure } = describeRedirect(example, target);
  const to = destination === 'nowhere' ? destination : `to ${destination}`;
  return [
    {
      seen,
      fault: `requests are redirected with ${example.response?.status} ${to} (${describeSeen(seen)}), and redirects are not followed`,
      cure,
      repair,
    },
  ];
}
