import { isErrorResponse } from '../../engine/checks/responses.ts';
import { findBodyFault, type JsonFault } from '../../engine/transcript/json-fault.ts';
import { isAccepted, type Exchange, type Transcript } from '../../engine/transcript/reading.ts';
import { conformingResponse } from './conforming-response.ts';
import { describeSeen, findExample, nonEmpty, type Diagnosis } from './seen.ts';

/** Returns whether the body of a response must be a JSON object. */
const mustBeJson = (exchange: Exchange): boolean =>
  isAccepted(exchange) ||
  isErrorResponse(exchange) ||
  (exchange.endpoint === 'health' && exchange.response?.status === 503);

/** Recognizes bodies that are almost JSON, for each mistake. */
export function findInvalidJson({ run, exchanges }: Transcript): Diagnosis[] {
  const faults = new Map<number, JsonFault>();
  for (const exchange of exchanges) {
    const { response, endpoint } = exchange;
    if (!response || endpoint === 'voice' || !mustBeJson(exchange)) continue;
    const fault = findBodyFault(response);
    if (fault) faults.set(exchange.id, fault);
  }
  const all = exchanges.filter(({ id }) => faults.has(id));
  return [...Map.groupBy(all, ({ id }) => faults.get(id)?.cure).values()].flatMap((group) => {
    const seen = nonEmpty(group);
    const fault = seen && faults.get(findExample(seen).id);
    if (!fault) return [];
    return [
      {
        seen,
        fault: `the body is not JSON: ${fault.reason} (${describeSeen(seen)})`,
        cure: fault.cure,
        repair(exchange) {
          const value = faults.get(exchange.id)?.value;
          if (!exchange.response || !value) return conformingResponse(exchange, run);
          const { bodyBase64, ...response } = exchange.response;
          return { ...response, body: JSON.stringify(value) };
        },
      },
    ];
  });
}
