import { formatValue, resolvePointer } from '../../../../src/contract/index.ts';
import { isObject } from '../../../../src/platform/json.ts';
import type { Exchange, Transcript } from '../../../engine/transcript/reading.ts';
import { describeSeen, findExample, nonEmpty, type Diagnosis } from '../../diagnoses/seen.ts';
import { findMatching, listPages } from '../results/listing.ts';

/** Recognizes pages whose `total` is not the number of sessions that match the filters. */
export function findContradictingTotals(transcript: Transcript): Diagnosis[] {
  const pages = listPages(transcript);
  const counts = new Map(
    pages.flatMap((page) => {
      const count = findMatching(page, pages)?.length;
      const total = totalOf(page);
      return count === undefined || typeof total !== 'number' || total === count
        ? []
        : [[page.id, count] as const];
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
      repair: ({ id, json, response }) => {
        const found = response ?? { status: 200, headers: {}, body: '' };
        return isObject(json)
          ? { ...found, body: JSON.stringify({ ...json, total: counts.get(id) }) }
          : found;
      },
    },
  ];
}

const totalOf = ({ json }: Exchange): unknown => resolvePointer(json, '/total');
