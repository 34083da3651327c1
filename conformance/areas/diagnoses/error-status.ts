import { resolvePointer, sandboxErrors, type RunRecord } from '../../../src/contract/index.ts';
import { isObject } from '../../../src/platform/json.ts';
import { hasSuccessKey, isErrorBody } from '../../engine/checks/refusal-hints.ts';
import { ERROR_SHAPE } from '../../engine/checks/responses.ts';
import {
  errorOf,
  isAccepted,
  isAcceptedError,
  type Exchange,
  type Transcript,
} from '../../engine/transcript/reading.ts';
import { isDuplicate } from '../users/requests.ts';
import { conformingResponse, expectedCodeOf, respondWithError } from './conforming-response.ts';
import { describeSeen, findExample, nonEmpty, quoteBody, type Diagnosis } from './seen.ts';

/** Recognizes errors that are sent with a 2xx status. */
export function findAcceptedErrors({ run, exchanges }: Transcript): Diagnosis[] {
  const seen = exchanges.filter(showsAcceptedError);
  const failing = new Set(
    seen.filter(({ intent }) => intent === 'valid').map(({ endpoint }) => endpoint),
  );
  const isFailure = ({ endpoint, intent }: Exchange): boolean =>
    failing.has(endpoint) && intent !== 'refuse';
  return [
    ...explainFailures(nonEmpty(seen.filter(isFailure)), run),
    ...explainRefusals(nonEmpty(seen.filter((exchange) => !isFailure(exchange)))),
  ];
}

type Seen = Diagnosis['seen'] | undefined;

/** Explains errors that valid requests get. */
function explainFailures(seen: Seen, run: RunRecord): Diagnosis[] {
  if (!seen) return [];
  const example = findExample(seen);
  return [
    {
      seen,
      fault: `valid requests get an error with status ${example.response?.status}: ${quoteBody(example)} (${describeSeen(seen)})`,
      cure: 'Find this error in the log of the sandbox, and send errors with their own status, such as 500',
      repair: (exchange) => conformingResponse(exchange, run),
    },
  ];
}

/** Explains errors that malformed requests get, or requests that the specification leaves open. */
function explainRefusals(seen: Seen): Diagnosis[] {
  if (!seen) return [];
  const status = findExample(seen).response?.status ?? 200;
  const hasShape = seen.every((exchange) => errorOf(exchange) !== undefined);
  return [
    {
      seen,
      fault: `errors are sent with status ${status} (${describeSeen(seen)})`,
      cure: `Send each error with its own status, for example 400 for an invalid request${hasShape ? '' : `, and as ${ERROR_SHAPE}`}`,
      repair(exchange) {
        const status = statusOf(exchange);
        return errorOf(exchange) && exchange.response
          ? { ...exchange.response, status }
          : respondWithError(status, expectedCodeOf(exchange, status));
      },
    },
  ];
}

function showsAcceptedError(exchange: Exchange): boolean {
  const { endpoint, intent, json } = exchange;
  if (!['chat', 'create', 'delete'].includes(endpoint)) return false;
  if (!isAccepted(exchange) || !isObject(json) || hasSuccessKey(exchange)) return false;
  return (
    isAcceptedError(exchange) ||
    json['success'] === false ||
    json['ok'] === false ||
    statedStatusOf(exchange) !== undefined ||
    (intent === 'refuse' && isErrorBody(exchange))
  );
}

/** Returns the status that the body names. */
export function statedStatusOf({ json }: Exchange): number | undefined {
  return ['status', 'statusCode', 'status_code', 'code', 'error/status', 'error/code']
    .map((path) => resolvePointer(json, `/${path}`))
    .filter((value) => typeof value === 'number')
    .find((value) => Number.isInteger(value) && value >= 400 && value < 600);
}

/** Returns the status that the error should have. */
function statusOf(exchange: Exchange): number {
  const stated = statedStatusOf(exchange);
  if (stated !== undefined) return stated;
  const code = errorOf(exchange)?.code ?? '';
  const row = Object.entries(sandboxErrors).find(([name]) => name === code)?.[1];
  if (row?.status !== undefined) return row.status;
  if (isDuplicate(exchange) || code === 'user_exists') return 409;
  return 400;
}
