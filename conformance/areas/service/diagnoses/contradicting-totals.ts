import { formatValue } from '../../../../src/contract/index.ts';
import type { Exchange, Transcript } from '../../../engine/transcript/reading.ts';
import { replaceKeys } from '../../diagnoses/conforming-response.ts';
import { describeSeen, findExample, nonEmpty, type Diagnosis } from '../../diagnoses/seen.ts';
import { listCompletePages, listPages } from '../results/listing.ts';
import { countManySessions } from '../results/many-sessions.ts';
import { sessionsOf, totalOf } from '../transcript.ts';
import { listShortPages } from './short-pages.ts';

/** Recognizes pages whose `total` is not the number of sessions that match the filters. */
export function findContradictingTotals(transcript: Transcript): Diagnosis[] {
  const listed = listPages(transcript);
  // Short pages look as if they listed every session that matches.
  const short = listShortPages(listed);
  const pages = listed.filter((page) => !short.includes(page));
  const counts = new Map(
    pages.flatMap((page) => {
      const count = findContradiction(page, pages, transcript);
      return count === undefined ? [] : [[page.id, count] as const];
    }),
  );
  const seen = nonEmpty(pages.filter(({ id }) => counts.has(id)));
  if (!seen) return [];
  const example = findExample(seen);
  const count = counts.get(example.id);
  return [
    {
      seen,
      fault: `\`total\` contradicts the listed sessions: ${formatValue(totalOf(example))} instead of ${count} (${describeSeen(seen)})`,
      cure: 'Count the sessions that match the filters, on all pages together',
      repair: (page) => replaceKeys(page, { total: counts.get(page.id) }),
    },
  ];
}

/**
 * Returns how many sessions match the filters of a page whose `total` is another number. A run adds
 * sessions, so there are at least as many as on an earlier complete page. There are at most as many as on
 * a later page, or on one of the same probe, which has waited for its results. A page may also lack
 * sessions, so the largest one counts.
 */
function findContradiction(
  page: Exchange,
  pages: readonly Exchange[],
  transcript: Transcript,
): number | undefined {
  const total = totalOf(page);
  if (typeof total !== 'number') return undefined;
  const seeded = countManySessions(page, transcript);
  if (seeded !== undefined) return total === seeded ? undefined : seeded;
  const complete = listCompletePages(page, pages);
  const count = (isDue: (other: Exchange) => boolean): number[] =>
    complete.filter(isDue).map((other) => sessionsOf(other).length);
  const min = Math.max(...count(({ id }) => id <= page.id));
  const due = count(({ id, probe }) => id >= page.id || probe === page.probe);
  if (total < min) return min;
  return due.length > 0 && total > Math.max(...due) ? Math.max(...due) : undefined;
}
