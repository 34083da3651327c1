import type { ResultsStep } from '../../../conformance/areas/service/steps.ts';
import { toExchange, type Exchange } from '../../../conformance/engine/transcript/transcript.ts';

/** A read of the production results, and what the service responds. */
export interface ProductionRead {
  id: number;
  step: ResultsStep;
  /** Filters (default: none). */
  query?: Record<string, string>;
  /** The list is sent only with 200, the default. */
  status?: number;
  items: readonly object[];
}

/** Returns the recorded exchange of a read. */
export function makeProductionRead(read: ProductionRead): Exchange {
  const { id, step, query = {}, status = 200, items } = read;
  const search = new URLSearchParams({ ...query, limit: '500' }).toString();
  return toExchange({
    record: 'exchange',
    id,
    probe: 'service/production',
    step,
    endpoint: 'production',
    intent: 'valid',
    startedMs: id,
    endedMs: id + 1,
    request: { method: 'GET', path: `/api/prod-evaluations/sessions/?${search}`, headers: {} },
    response: {
      status,
      headers: {},
      body: status === 200 ? JSON.stringify({ items, total: items.length }) : '',
    },
  });
}
