import type { RunRecord } from '../../../src/contract/index.ts';
import { isObject } from '../../../src/platform/json.ts';
import { describeBody, isErrorResponse } from '../../engine/checks/responses.ts';
import { findBodyFault } from '../../engine/transcript/json-fault.ts';
import { isAccepted, type Exchange, type Transcript } from '../../engine/transcript/reading.ts';
import { isDuplicate } from '../users/requests.ts';
import { conformingResponse } from './conforming-response.ts';
import { diagnoseBodies, type BodyDefect, type Diagnosis } from './seen.ts';
import { isWrapped } from './wrapped-body.ts';

/** Recognizes bodies that are almost JSON, for each mistake, JSON other than an object, and a 204. */
export const findInvalidJson = ({ run, exchanges }: Transcript): Diagnosis[] =>
  diagnoseBodies(exchanges, (exchange) =>
    exchange.endpoint === 'voice'
      ? undefined
      : (findNoContent(exchange, run) ??
        findAlmostJson(exchange, run) ??
        findOtherValue(exchange, run)),
  );

/** Returns whether a response is a reply or a report, and not an error. */
const isReport = (exchange: Exchange): boolean =>
  isAccepted(exchange) || (exchange.endpoint === 'health' && exchange.response?.status === 503);

function findNoContent({ response, intent }: Exchange, run: RunRecord): BodyDefect | undefined {
  if (response?.status !== 204 || intent !== 'valid') return undefined;
  return {
    kind: 'no content',
    fault: 'a 204 has no body',
    cure: 'Respond with 200 and one JSON object',
    repair: (repaired) => conformingResponse(repaired, run),
  };
}

function findAlmostJson(exchange: Exchange, run: RunRecord): BodyDefect | undefined {
  const { response } = exchange;
  const isError = isErrorResponse(exchange) || isDuplicate(exchange);
  if (!response || !(isReport(exchange) || isError)) return undefined;
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
}

function findOtherValue(exchange: Exchange, run: RunRecord): BodyDefect | undefined {
  const { json, intent } = exchange;
  if (json === undefined || isObject(json) || isWrapped(exchange)) return undefined;
  if (!isReport(exchange) || intent === 'refuse') return undefined;
  return {
    kind: 'another value',
    fault: `the body is not a JSON object, but ${describeBody(exchange)}`,
    cure: 'Send one JSON object',
    repair: (repaired) => conformingResponse(repaired, run),
  };
}
