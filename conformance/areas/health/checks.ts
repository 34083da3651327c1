import { HEALTH_RESPONSE_MS_TARGET, HEALTH_TIMEOUT_MS } from '../../../src/contract/index.ts';
import { instantMs } from '../../../src/platform/clock.ts';
import type { HealthRequirementId } from './requirements.ts';
import { isHealthStep, type HealthStep } from './probes.ts';
import { describeBody, hintForBody, requirePlainAccepted } from '../../engine/checks/responses.ts';
import {
  unjudgedAs,
  checkEach,
  outcomeFinding,
  type Check,
  type Finding,
} from '../../engine/checks/check.ts';
import { checkShape } from '../../engine/checks/shape.ts';
import {
  checkMedianTime,
  checkTypicalValue,
  explainLateness,
  hasStatus,
  isSpoiled,
} from '../../engine/checks/targets.ts';
import { isObject } from '../../../src/platform/json.ts';
import {
  type Exchange,
  isAccepted,
  errorOf,
  isRateLimited,
  durationMs,
  type Transcript,
} from '../../engine/transcript/reading.ts';
import { isTransient } from '../../engine/transcript/repetitions.ts';

const isHealth = (exchange: Exchange): boolean => exchange.endpoint === 'health';
const statusOf = (exchange: Exchange): number => exchange.response?.status ?? 0;
const noResponse = unjudgedAs('blocked', 'GET /health got no response.');

/** A response that states the health of the agent: 2xx or 503 with a JSON object. */
const isHealthReport = (exchange: Exchange): boolean =>
  isHealth(exchange) &&
  (isAccepted(exchange) || statusOf(exchange) === 503) &&
  isObject(exchange.json);

/** Why there is no health report. A health check may fail with 500, which is legal (spec 4.6). */
const noReport: Check['unjudged'] = ({ exchanges }) =>
  exchanges.some((exchange) => isHealth(exchange) && statusOf(exchange) === 500)
    ? { verdict: 'not_applicable', reason: 'The health check of the sandbox failed with 500.' }
    : { verdict: 'blocked', reason: 'GET /health never responded with a JSON object.' };

const noReportHasField: Check['unjudged'] = (transcript) =>
  transcript.exchanges.some(isHealthReport)
    ? { verdict: 'not_applicable', reason: 'No health response has this field.' }
    : noReport(transcript);

const field = (...places: string[]): Check =>
  checkShape({ message: 'Health', filter: isHealthReport, places, unjudged: noReportHasField });

/** A status in the body implies an HTTP status (spec 3.3). */
function checkHttpStatus(status: string, http: number): Check {
  return checkEach(
    (exchange) => isHealth(exchange) && hasStatus(exchange, status),
    (exchange) =>
      statusOf(exchange) === http
        ? []
        : [
            {
              exchange: exchange.id,
              pointer: '/status',
              expected: `HTTP ${http} for the status "${status}"`,
              received: `HTTP ${statusOf(exchange)}`,
            },
          ],
    unjudgedAs('not_observed', `The sandbox never reported the status ${status}.`),
  );
}

/** A health report or a failed health check, whose body HEALTH-032 judges. */
const isHealthResponse = (exchange: Exchange): boolean =>
  isHealthReport(exchange) || statusOf(exchange) === 500;

/** Requires each judged response to be a health report or a failed health check. */
function checkResponse(
  isJudged: (exchange: Exchange, transcript: Transcript) => boolean,
  expected: string,
): Check {
  return checkEach(
    (exchange, transcript) =>
      isHealth(exchange) &&
      isJudged(exchange, transcript) &&
      !isRateLimited(exchange) &&
      ![401, 403].includes(statusOf(exchange)) &&
      exchange.failure?.kind !== 'timeout',
    (exchange) => (isHealthResponse(exchange) ? [] : [notHealth(exchange, expected)]),
    noResponse,
  );
}

/** Returns whether the connection of a request failed once, and not when it was sent again. */
const hasLostConnection = (exchange: Exchange, transcript: Transcript): boolean =>
  exchange.failure !== undefined && isTransient(exchange, transcript);

/** Checks the response of a step. Judged only where the plain request works; else HEALTH-001 fails. */
function checkResponseIfPlainWorks(step: HealthStep, expected: string): Check {
  return requirePlainAccepted(
    isHealthStep('plain'),
    isHealthResponse,
    checkResponse(
      (exchange, transcript) =>
        isHealthStep(step)(exchange) && !hasLostConnection(exchange, transcript),
      expected,
    ),
  );
}

/** A finding about a response that reports no health; shows how a successful one starts. */
function notHealth(exchange: Exchange, expected: string): Finding {
  const finding = outcomeFinding(exchange, expected, hintForBody(exchange));
  return isAccepted(exchange)
    ? { ...finding, received: `${finding.received} with ${describeBody(exchange)}` }
    : finding;
}

/** The checks for `GET /health`, by requirement. */
export const healthChecks = {
  'HEALTH-001': checkResponse(
    (exchange, transcript) =>
      !isHealthStep('with Accept', 'after refusals')(exchange) ||
      hasLostConnection(exchange, transcript),
    '200 or 503 with a JSON object',
  ),
  'HEALTH-002': checkHttpStatus('healthy', 200),
  'HEALTH-003': checkHttpStatus('degraded', 200),
  'HEALTH-004': checkHttpStatus('unhealthy', 503),
  'HEALTH-005': checkEach(
    (exchange) => isHealth(exchange) && exchange.response !== undefined && !isRateLimited(exchange),
    (exchange) =>
      [401, 403].includes(statusOf(exchange))
        ? [
            outcomeFinding(
              exchange,
              'a response without a key',
              'Exclude /health from authentication.',
            ),
          ]
        : [],
    noResponse,
  ),
  'HEALTH-006': checkResponseIfPlainWorks('with Accept', 'the same response as without Accept'),
  'HEALTH-007': checkResponseIfPlainWorks('after refusals', 'the same response as before'),
  'HEALTH-010': field('/status'),
  'HEALTH-011': field('/timestamp'),
  'HEALTH-012': field('/version'),
  'HEALTH-013': field('/uptime'),
  'HEALTH-014': field('/webrtc_status'),
  'HEALTH-015': checkTypicalValue(
    isHealthReport,
    '/webrtc_status',
    'operational',
    noReportHasField,
  ),
  'HEALTH-016': field('/dependencies'),
  'HEALTH-017': field(
    '/dependencies/database',
    '/dependencies/llm_service',
    '/dependencies/external_apis',
  ),
  'HEALTH-018': field('/metrics'),
  'HEALTH-019': field('/metrics/response_time_avg'),
  'HEALTH-020': field('/metrics/error_rate', '/metrics/memory_usage', '/metrics/cpu_usage'),
  'HEALTH-021': checkError(),
  'HEALTH-022': {
    ...field('/error/message', '/error/details'),
    unjudged: unjudgedAs('not_observed', 'No unhealthy response had an error.'),
  },
  'HEALTH-023': checkEach(
    (exchange) => isHealthReport(exchange) && hasStatus(exchange, 'unhealthy'),
    (exchange) =>
      isObject(exchange.json) && exchange.json['error'] === undefined
        ? [{ exchange: exchange.id, pointer: '/error', expected: 'an error', received: 'no error' }]
        : [],
    unjudgedAs('not_observed', 'The sandbox was never unhealthy.'),
  ),
  'HEALTH-030': checkMedianTime('health', HEALTH_RESPONSE_MS_TARGET, noReport),
  'HEALTH-031': checkTimeout(),
  'HEALTH-032': checkFailedHealthCheck(),
  'HEALTH-033': checkClockSkew(),
} satisfies Record<HealthRequirementId, Check>;

/** Every health report is evidence: it has an `error` that must be legal, or has none. */
function checkError(): Check {
  const errorField = field('/error');
  return {
    ...errorField,
    evidence: ({ exchanges }) => exchanges.filter(isHealthReport),
    unjudged: noReport,
  };
}

function checkTimeout(): Check {
  const isTimed = (exchange: Exchange): boolean =>
    isHealth(exchange) && (exchange.response !== undefined || exchange.failure?.kind === 'timeout');
  return checkEach(
    (exchange) => isTimed(exchange) && !isSpoiled(exchange, HEALTH_TIMEOUT_MS),
    (exchange) =>
      durationMs(exchange) <= HEALTH_TIMEOUT_MS && exchange.response
        ? []
        : [
            {
              exchange: exchange.id,
              pointer: '',
              expected: `a response within ${HEALTH_TIMEOUT_MS / 1000} s`,
              received: exchange.response
                ? `a response after ${Math.round(durationMs(exchange))} ms`
                : 'no response',
            },
          ],
    (transcript) => {
      const timed = transcript.exchanges.filter(isTimed);
      return timed.length > 0 ? explainLateness(timed) : noResponse(transcript);
    },
  );
}

function checkFailedHealthCheck(): Check {
  return checkEach(
    (exchange) => isHealth(exchange) && statusOf(exchange) === 500,
    (exchange) => {
      const error = errorOf(exchange);
      const right = error?.code === 'health_check_failed' && error.type === 'internal_error';
      const message =
        isObject(exchange.json) && isObject(exchange.json['error']) && exchange.json['error'];
      if (right && message && typeof message['message'] === 'string') return [];
      return [
        {
          exchange: exchange.id,
          pointer: '/error',
          expected: 'message, type "internal_error" and code "health_check_failed"',
          received: (exchange.response?.body ?? '').slice(0, 80),
        },
      ];
    },
    unjudgedAs('not_observed', 'The health check of the sandbox never failed.'),
  );
}

function checkClockSkew(): Check {
  const timestampOf = (exchange: Exchange): number | undefined => {
    const timestamp = isObject(exchange.json) ? exchange.json['timestamp'] : undefined;
    return typeof timestamp === 'string' ? instantMs(timestamp) : undefined;
  };
  return checkEach(
    (exchange) => isHealthReport(exchange) && timestampOf(exchange) !== undefined,
    (exchange, { run }) => {
      const kitMs = (instantMs(run.startedAt) ?? 0) + exchange.endedMs;
      const skewMs = (timestampOf(exchange) ?? kitMs) - kitMs;
      if (Math.abs(skewMs) < 60_000) return [];
      return [
        {
          exchange: exchange.id,
          pointer: '/timestamp',
          expected: 'within 60 s of the clock of this machine',
          received: formatSkew(skewMs),
          hint: skewHint(skewMs),
        },
      ];
    },
    noReportHasField,
  );
}

const HOUR_MS = 3_600_000;

/** Returns the skew in its two largest units, e.g. "3 min 20 s ahead". */
function formatSkew(skewMs: number): string {
  const seconds = Math.round(Math.abs(skewMs) / 1000);
  const units = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ] as const;
  const first = units.findIndex(([count]) => count > 0);
  const shown = units.slice(first, first + 2).filter(([count]) => count > 0);
  const words = shown.map(([count, unit]) => `${count} ${unit}`).join(' ');
  return `${words} ${skewMs > 0 ? 'ahead' : 'behind'}`;
}

/** Returns the likely cause: time zones differ by quarters of an hour, drifting clocks don't. */
function skewHint(skewMs: number): string {
  const remainderMs = Math.abs(skewMs) % (HOUR_MS / 4);
  const isZone =
    Math.min(remainderMs, HOUR_MS / 4 - remainderMs) < 30_000 && Math.abs(skewMs) < 15 * HOUR_MS;
  return isZone
    ? 'This looks like local time marked as UTC. Send UTC with Z, or the offset of the time zone.'
    : "Synchronize the clock of the sandbox with NTP, and don't cache the response.";
}
