import { isErrorResponse } from '../../engine/checks/responses.ts';
import { findBodyFault } from '../../engine/transcript/json-fault.ts';
import { isAccepted, type Exchange, type Transcript } from '../../engine/transcript/reading.ts';
import { conformingResponse } from './conforming-response.ts';
import { diagnoseBodies, type Diagnosis } from './seen.ts';

/** Returns whether the body of a response must be a JSON object. */
const mustBeJson = (exchange: Exchange): boolean =>
  isAccepted(exchange) ||
  isErrorResponse(exchange) ||
  (exchange.endpoint === 'health' && exchange.response?.status === 503);

/** Recognizes bodies that are almost JSON, for each mistake. */
export function findInvalidJson({ run, exchanges }: Transcript): Diagnosis[] {
  return diagnoseBodies(exchanges, (exchange) => {
    const { response, endpoint } = exchange;
    if (!response || endpoint === 'voice' || !mustBeJson(exchange)) return undefined;
    const fault = findBodyFault(response);
    if (!fault) return undefined;
    const { cure, reason, value } = fault;
    return {
      kind: cure,
      fault: `the body is not JSON: ${reason}`,
      cure,
      repair(repaired) {
        if (!repaired.response || !value) return conformingResponse(repaired, run);
        const { bodyBase64, ...others } = repaired.response;
        return { ...others, body: JSON.stringify(value) };
      },
    };
  });
}
