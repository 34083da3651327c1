import { formatValue } from '../../../contract/index.ts';
import { ParameterError } from '../../requests/errors.ts';
import { readResultsQuery } from '../../requests/results-query.ts';
import type { Page, SessionFilter, Store } from '../../store/store.ts';

/** Describes an invalid parameter by the label of its field on the page. */
export const describeField = (
  { parameter, problem }: ParameterError,
  labels: Readonly<Partial<Record<string, string>>>,
): string => `${labels[parameter] ?? parameter} ${problem}`;

/** Reads the filter of a list. An invalid query gives the filter without it, and the problem. */
export function readListFilter(
  query: URLSearchParams,
  ownerId: string,
): { filter: SessionFilter; problem?: ParameterError } {
  const name = query.get('kind') ?? 'production';
  const kind = name === 'simulation' ? 'simulation' : 'production';
  // A form sends its empty fields.
  const filled = new URLSearchParams([...query].filter(([, value]) => value !== ''));
  try {
    if (name !== kind) {
      const problem = `must be production, simulation, open, or unscored, got ${formatValue(name)}.`;
      throw new ParameterError('kind', problem);
    }
    return readResultsQuery(kind, ownerId, filled);
  } catch (error) {
    if (!(error instanceof ParameterError)) throw error;
    return { ...readResultsQuery(kind, ownerId, new URLSearchParams()), problem: error };
  }
}

/** Reads which page of a list to show. An invalid query shows the first one. */
export const readPage = (query: URLSearchParams, limit: number): Page => ({
  skip: readListFilter(query, '').filter.skip,
  limit,
});

/** Returns the query of a list; without a kind, it shows a kind that has sessions. */
export async function chooseKind(
  { overview }: Pick<Store, 'overview'>,
  ownerId: string,
  query: URLSearchParams,
): Promise<URLSearchParams> {
  if (query.size > 0) return query;
  const { production, simulation } = await overview.count(ownerId);
  const isSimulation = production.listed === 0 && simulation.listed > 0;
  return isSimulation ? new URLSearchParams({ kind: 'simulation' }) : query;
}
