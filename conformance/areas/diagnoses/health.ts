import type { RunRecord } from '../../../src/contract/index.ts';
import { isObject } from '../../../src/platform/json.ts';
import { isKeyRefused, type Exchange, type Transcript } from '../../engine/transcript/reading.ts';
import { acceptedBody, conformingResponse, respond } from './conforming-response.ts';
import { describeSeen, findExample, nonEmpty, quoteBody, type Diagnosis } from './seen.ts';

/** Recognizes a health check that demands a key, or reports an unhealthy sandbox as an error. */
export function findHealthFaults({ run, exchanges }: Transcript): Diagnosis[] {
  const health = exchanges.filter(({ endpoint }) => endpoint === 'health');
  return [
    ...explainKey(health.filter(isKeyRefused), run),
    ...explainErrors(health.filter(isUnhealthyError), run),
  ];
}

function explainKey(exchanges: readonly Exchange[], run: RunRecord): Diagnosis[] {
  const seen = nonEmpty(exchanges);
  if (!seen) return [];
  const example = findExample(seen);
  return [
    {
      seen,
      fault: `a key is demanded: ${example.response?.status} with ${quoteBody(example)} (${describeSeen(seen)})`,
      cure: 'Exclude this route from authentication: the service sends no key with it',
      repair: (exchange) => conformingResponse(exchange, run),
    },
  ];
}

/** Returns whether a 503 has the error shape of the other routes in place of a report. */
const isUnhealthyError = (exchange: Exchange): boolean =>
  exchange.response?.status === 503 &&
  isObject(exchange.json) &&
  isObject(exchange.json['error']) &&
  exchange.json['status'] === undefined;

function explainErrors(exchanges: readonly Exchange[], run: RunRecord): Diagnosis[] {
  const seen = nonEmpty(exchanges);
  if (!seen) return [];
  const error = { message: '', details: '' };
  return [
    {
      seen,
      fault: `the body of a 503 is an error, not a health report (${describeSeen(seen)})`,
      cure: 'Send {"status": "unhealthy", "timestamp", "error": {"message", "details"}} with 503; if the check itself fails, send an error with 500',
      repair: (exchange) =>
        respond(503, { ...acceptedBody(exchange, run), status: 'unhealthy', error }),
    },
  ];
}
