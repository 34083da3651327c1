import { healthResponseMsTarget, healthTimeoutMs } from '../../../src/contract/index.ts';
import { instantMs } from '../../../src/platform/clock.ts';
import type { healthRequirements } from './requirements.ts';
import { oncePlain } from '../../engine/checks/responses.ts';
import {
  notJudged,
  checkEach,
  wrongOutcome,
  type Check,
  type Finding,
} from '../../engine/checks/check.ts';
import { shape } from '../../engine/checks/shape.ts';
import { hasStatus, typical, usualTime } from '../../engine/checks/targets.ts';
import { isObject } from '../../../src/platform/json.ts';
import {
  type Exchange,
  isAccepted,
  errorOf,
  isRateLimited,
  durationMs,
} from '../../engine/transcript/reading.ts';

const isHealth = (one: Exchange): boolean => one.endpoint === 'health';
const statusOf = (one: Exchange): number => one.response?.status ?? 0;

/** Answers that speak of health: 2xx or 503 with a JSON object. */
const bodies = (one: Exchange): boolean =>
  isHealth(one) && (isAccepted(one) || statusOf(one) === 503) && isObject(one.json);

/** A health check that failed says nothing of health; that is legal (spec 4.6). */
const noBody: Check['unjudged'] = ({ exchanges }) =>
  exchanges.some((one) => isHealth(one) && statusOf(one) === 500)
    ? { verdict: 'not_applicable', reason: 'The health check itself failed with 500.' }
    : { verdict: 'blocked', reason: 'GET /health was never answered with a JSON object.' };

const leftOut: Check['unjudged'] = (transcript) =>
  transcript.exchanges.some(bodies)
    ? { verdict: 'not_applicable', reason: 'No health answer carries it.' }
    : noBody(transcript);

const field = (...at: string[]): Check =>
  shape({ message: 'Health', answers: bodies, at, absent: leftOut });

/** A body status must come with its HTTP status (spec 3.3). */
function comesWith(status: string, http: number): Check {
  return checkEach(
    (one) => isHealth(one) && hasStatus(one, status),
    (one) =>
      statusOf(one) === http
        ? []
        : [
            {
              exchange: one.id,
              pointer: '/status',
              expected: `HTTP ${http} with "${status}"`,
              received: `HTTP ${statusOf(one)}`,
            },
          ],
    notJudged('not_observed', `The sandbox was never ${status}.`),
  );
}

/** 200, 503 or 500 with an object; what a 500 must look like is HEALTH-032. */
const inOrder = (one: Exchange): boolean => bodies(one) || statusOf(one) === 500;

function answersStep(judged: (step: string) => boolean, expected: string): Check {
  return checkEach(
    (one) =>
      isHealth(one) &&
      judged(one.step) &&
      !isRateLimited(one) &&
      ![401, 403].includes(statusOf(one)) &&
      one.failure?.kind !== 'timeout',
    (one) => (inOrder(one) ? [] : [notHealth(one, expected)]),
    notJudged('blocked', 'GET /health was not answered.'),
  );
}

/** Judged where the plain request is answered at all: else that is the cause, and HEALTH-001. */
function comparedToPlain(step: string, expected: string): Check {
  return oncePlain(
    (one) => isHealth(one) && one.step === 'plain',
    inOrder,
    answersStep((name) => name === step, expected),
  );
}

function notHealth(one: Exchange, expected: string): Finding {
  const start = JSON.stringify((one.response?.body ?? '').slice(0, 40));
  const finding = wrongOutcome(one, expected);
  return isAccepted(one) ? { ...finding, received: `${finding.received} with ${start}` } : finding;
}

/** The checks of `GET /health`, one for each requirement. */
export const healthChecks = {
  'HEALTH-001': answersStep(
    (step) => step !== 'with Accept' && step !== 'after refusals',
    '200 or 503 with a JSON object',
  ),
  'HEALTH-002': comesWith('healthy', 200),
  'HEALTH-003': comesWith('degraded', 200),
  'HEALTH-004': comesWith('unhealthy', 503),
  'HEALTH-005': checkEach(
    (one) => isHealth(one) && one.response !== undefined && !isRateLimited(one),
    (one) =>
      [401, 403].includes(statusOf(one))
        ? [wrongOutcome(one, 'an answer without a key', 'Leave /health out of authentication.')]
        : [],
    notJudged('blocked', 'GET /health was not answered.'),
  ),
  'HEALTH-006': comparedToPlain('with Accept', 'the answer that comes without Accept'),
  'HEALTH-007': comparedToPlain('after refusals', 'an answer as before'),
  'HEALTH-010': field('/status'),
  'HEALTH-011': field('/timestamp'),
  'HEALTH-012': field('/version'),
  'HEALTH-013': field('/uptime'),
  'HEALTH-014': field('/webrtc_status'),
  'HEALTH-015': typical(bodies, '/webrtc_status', 'operational', leftOut),
  'HEALTH-016': field('/dependencies'),
  'HEALTH-017': field(
    '/dependencies/database',
    '/dependencies/llm_service',
    '/dependencies/external_apis',
  ),
  'HEALTH-018': field('/metrics'),
  'HEALTH-019': field('/metrics/response_time_avg'),
  'HEALTH-020': field('/metrics/error_rate', '/metrics/memory_usage', '/metrics/cpu_usage'),
  'HEALTH-021': errorOnlyWhenUnhealthy(),
  'HEALTH-022': {
    ...field('/error/message', '/error/details'),
    unjudged: notJudged('not_observed', 'No unhealthy answer with an error was seen.'),
  },
  'HEALTH-023': checkEach(
    (one) => bodies(one) && hasStatus(one, 'unhealthy'),
    (one) =>
      isObject(one.json) && one.json['error'] === undefined
        ? [{ exchange: one.id, pointer: '/error', expected: 'an error', received: 'nothing' }]
        : [],
    notJudged('not_observed', 'The sandbox was never unhealthy.'),
  ),
  'HEALTH-030': usualTime('health', healthResponseMsTarget, noBody),
  'HEALTH-031': inTime(),
  'HEALTH-032': failedCheck(),
  'HEALTH-033': clockSkew(),
} satisfies Record<keyof typeof healthRequirements, Check>;

/** An `error` is evidence where it stands; every answer with a good status is evidence of its absence. */
function errorOnlyWhenUnhealthy(): Check {
  const judged = field('/error');
  return { ...judged, evidence: ({ exchanges }) => exchanges.filter(bodies), unjudged: noBody };
}

function inTime(): Check {
  return checkEach(
    (one) => isHealth(one) && (one.response !== undefined || one.failure?.kind === 'timeout'),
    (one) =>
      durationMs(one) <= healthTimeoutMs && one.response
        ? []
        : [
            {
              exchange: one.id,
              pointer: '',
              expected: `an answer within ${healthTimeoutMs / 1000} s`,
              received: one.response ? `one after ${Math.round(durationMs(one))} ms` : 'none',
            },
          ],
    notJudged('blocked', 'GET /health was not answered.'),
  );
}

function failedCheck(): Check {
  return checkEach(
    (one) => isHealth(one) && statusOf(one) === 500,
    (one) => {
      const error = errorOf(one);
      const right = error?.code === 'health_check_failed' && error.type === 'internal_error';
      const message = isObject(one.json) && isObject(one.json['error']) && one.json['error'];
      if (right && message && typeof message['message'] === 'string') return [];
      return [
        {
          exchange: one.id,
          pointer: '/error',
          expected: 'message, type "internal_error" and code "health_check_failed"',
          received: (one.response?.body ?? '').slice(0, 80),
        },
      ];
    },
    notJudged('not_observed', 'The health check never failed.'),
  );
}

function clockSkew(): Check {
  const startedAt = (iso: string): number => instantMs(iso) ?? 0;
  const timestampOf = (one: Exchange): number | undefined => {
    const timestamp = isObject(one.json) ? one.json['timestamp'] : undefined;
    return typeof timestamp === 'string' ? instantMs(timestamp) : undefined;
  };
  return checkEach(
    (one) => bodies(one) && timestampOf(one) !== undefined,
    (one, { run }) => {
      const oursMs = startedAt(run.startedAt) + one.endedMs;
      const skewMs = (timestampOf(one) ?? oursMs) - oursMs;
      if (Math.abs(skewMs) < 60_000) return [];
      return [
        {
          exchange: one.id,
          pointer: '/timestamp',
          expected: 'within 60 s of our clock',
          received: skewText(skewMs),
          hint: skewHint(skewMs),
        },
      ];
    },
    leftOut,
  );
}

const HOUR_MS = 3_600_000;

/** "3 min 20 s ahead": the two largest units. */
function skewText(skewMs: number): string {
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

/** Zones differ by quarters of an hour, and clocks that drift do not. */
function skewHint(skewMs: number): string {
  const offMs = Math.abs(skewMs) % (HOUR_MS / 4);
  const isZone = Math.min(offMs, HOUR_MS / 4 - offMs) < 30_000 && Math.abs(skewMs) < 15 * HOUR_MS;
  return isZone
    ? 'It looks like local time that is marked as UTC: write UTC with Z, or the offset.'
    : 'Set the clock of the sandbox by NTP; a timestamp that stands still is cached.';
}
