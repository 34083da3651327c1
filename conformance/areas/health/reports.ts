/** Health reports: which responses are one, and how a distortion sends one (spec 2.10, 4.6). */
import { isoTime } from '../../../src/platform/clock.ts';
import { isObject } from '../../../src/platform/json.ts';
import type { Check } from '../../engine/checks/check.ts';
import { jsonResponse, respondInstead, to } from '../../engine/mutants/combinators.ts';
import type { DistortionEntry } from '../../engine/requirement.ts';
import { type Exchange, isAccepted, isKeyRefused } from '../../engine/transcript/reading.ts';

export const isHealth = (exchange: Exchange): boolean => exchange.endpoint === 'health';
export const statusOf = (exchange: Exchange): number => exchange.response?.status ?? 0;

/** Why the status of a report and its HTTP status matter. */
export const STATUS_REASON =
  'The service decides from the HTTP status and the body together whether a simulation can start.';

/** Whether a response states the health of the agent: 2xx or 503 with a JSON object. */
export const isHealthReport = (exchange: Exchange): boolean =>
  isHealth(exchange) &&
  (isAccepted(exchange) || statusOf(exchange) === 503) &&
  isObject(exchange.json);

/** Returns whether the response body is a JSON object with this `status`. */
export function hasStatus({ json }: Exchange, status: string): boolean {
  return isObject(json) && json['status'] === status;
}

/** Explains why there is no response to judge. */
export const noResponse: Check['unjudged'] = ({ exchanges }) => {
  const refused = exchanges.find((exchange) => isHealth(exchange) && isKeyRefused(exchange));
  const reason = refused
    ? `GET /health demands a key: ${statusOf(refused)} (exchange ${refused.id}).`
    : 'GET /health got no response.';
  return { verdict: 'blocked', reason };
};

/** Why there is no health report. A health check may fail with 500, which is legal (spec 4.6). */
export const noReport: Check['unjudged'] = (transcript) => {
  const health = transcript.exchanges.filter(isHealth);
  if (health.some((exchange) => statusOf(exchange) === 500)) {
    return {
      verdict: 'not_applicable',
      reason: 'The health check of the sandbox failed with 500.',
    };
  }
  const isRefused = health.every((exchange) => !exchange.response || isKeyRefused(exchange));
  return isRefused
    ? noResponse(transcript)
    : { verdict: 'blocked', reason: 'No response of GET /health is a health report.' };
};

export const noReportHasField: Check['unjudged'] = (transcript) =>
  transcript.exchanges.some(isHealthReport)
    ? { verdict: 'not_applicable', reason: 'No health response has this field.' }
    : noReport(transcript);

/** Selects the requests that accept JSON, one of those of a run. */
export const hasAccept = to('health', ({ headers }) => headers['accept'] === 'application/json');

/** An error that an unhealthy sandbox may report. */
export const error = {
  message: 'The database does not respond.',
  details: 'Two attempts timed out.',
};

/** Responds with a status in the body and an HTTP status. */
export const reports = (
  description: string,
  status: string,
  http: number,
  more: object = {},
): DistortionEntry => ({
  description,
  transform: respondInstead(to('health'), (_request, clock) =>
    jsonResponse(http, { status, timestamp: isoTime(clock.nowMs()), ...more }),
  ),
});
