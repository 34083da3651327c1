/** The outcome of `GET /health`: the HTTP status and the kind of body (spec 3.3, 4.6). */
import { isObject } from '../../../src/platform/json.ts';
import {
  type Check,
  checkEach,
  type Finding,
  outcomeFinding,
  unjudgedAs,
} from '../../engine/checks/check.ts';
import { findHtmlPage } from '../../engine/transcript/html-page.ts';
import { describeBody, hintForBody, requirePlainAccepted } from '../../engine/checks/responses.ts';
import {
  changeResponse,
  drop,
  dropInstead,
  type Edit,
  editBody,
  jsonResponse,
  replaceParts,
  respondInstead,
  set,
  to,
} from '../../engine/mutants/combinators.ts';
import { errorResponse } from '../sandbox-responses.ts';
import type { ProxyResponse, TransformFactory } from '../../engine/mutants/mutant.ts';
import { type DistortionEntry, type Subject, withDefaults } from '../../engine/requirement.ts';
import {
  errorOf,
  type Exchange,
  isAccepted,
  isKeyRefused,
  isRateLimited,
  type Transcript,
} from '../../engine/transcript/reading.ts';
import { isTransient } from '../../engine/transcript/repetitions.ts';
import { breakAfterMalformedJson, SURVIVAL_REASON } from '../failures.ts';
import { isHealthStep, type HealthStep } from './probes.ts';
import {
  error,
  hasAccept,
  hasStatus,
  isHealth,
  isHealthReport,
  noResponse,
  reports,
  STATUS_REASON,
  statusOf,
} from './reports.ts';

const health = to('health');

const PAGE = { headers: { 'content-type': 'text/plain' }, body: 'OK' };

const unhealthy = reports('Reports "unhealthy" with an error.', 'unhealthy', 503, { error });

const sends = (
  description: string,
  parts: Partial<ProxyResponse>,
  when = health,
): DistortionEntry => ({ description, transform: replaceParts(when, parts) });

/** Responds with 500 and an edited error about a failed health check. */
const failsWith = (description: string, edit: Edit): DistortionEntry => ({
  description,
  transform: changeResponse(health, (_response, request) =>
    editBody(errorResponse(500, 'health_check_failed'), request, edit),
  ),
});

const ofStatus = withDefaults(
  {
    reason: STATUS_REASON,
  },
  {
    'HEALTH-001': {
      rule: '`GET /health` responds with 200, 503, or 500 and a JSON object.',
      statements: ['4.6.1', '4.6.2', '4.6.3', '4.6.5', '4.6.6', '3.3.1'],
      probes: ['preflight'],
      check: checkResponse(
        (exchange, transcript) =>
          !isHealthStep('with Accept', 'after refusals')(exchange) ||
          hasLostConnection(exchange, transcript),
        '200 or 503 with a JSON object',
      ),
      mutants: {
        'not-there': {
          description: 'Has no `GET /health`.',
          transform: respondInstead(health, () => jsonResponse(404, { detail: 'Not Found' })),
        },
        text: sends('Responds with the text OK.', PAGE),
        empty: sends('Responds with an empty body.', { body: '' }),
        'an-array': sends('Responds with a JSON array.', { body: '[]' }),
        'text-after-json': {
          description: 'Sends a comment after the JSON object.',
          transform: changeResponse(health, (response) => ({
            ...response,
            body: `${response.body}\n<!-- 1 ms -->`,
          })),
        },
        'bad-gateway': sends('Responds with 502.', { status: 502, body: '' }),
      },
    },
    'HEALTH-002': {
      rule: 'A response with the status `healthy` has HTTP status 200.',
      statements: ['3.3.1', '4.6.6'],
      probes: ['preflight'],
      check: checkHttpStatus('healthy', 200),
      mutants: {
        'healthy-404': {
          ...reports('Reports "healthy" with 404.', 'healthy', 404),
          alsoKills: ['HEALTH-001'],
        },
        'healthy-503': reports('Reports "healthy" with 503.', 'healthy', 503),
        'healthy-201': reports('Reports "healthy" with 201.', 'healthy', 201),
      },
    },
    'HEALTH-003': {
      rule: 'A response with the status `degraded` has HTTP status 200.',
      statements: ['3.3.2', '4.6.6'],
      observability: 'provoked',
      check: checkHttpStatus('degraded', 200),
      mutants: {
        'degraded-503': reports('Reports "degraded" with 503.', 'degraded', 503),
        'degraded-207': reports('Reports "degraded" with 207.', 'degraded', 207),
      },
      legal: { degraded: reports('Reports "degraded".', 'degraded', 200) },
    },
    'HEALTH-004': {
      rule: 'A response with the status `unhealthy` has HTTP status 503.',
      statements: ['3.3.3', '7.b10', '4.6.6'],
      observability: 'provoked',
      check: checkHttpStatus('unhealthy', 503),
      mutants: {
        'unhealthy-200': reports('Reports "unhealthy" with 200.', 'unhealthy', 200, { error }),
      },
      legal: {
        unhealthy,
        recovers: {
          description: 'Reports "unhealthy" for the first two requests.',
          transform: recover,
        },
      },
    },
  },
);

export const responses: Subject = {
  requirements: {
    ...ofStatus,
    'HEALTH-005': {
      rule: '`GET /health` works without a key.',
      statements: ['4.6.4', '5.b4'],
      reason:
        'The service checks health before it knows whether its key works; a 401 looks like a broken sandbox.',
      probes: ['preflight'],
      check: checkEach(
        (exchange) =>
          isHealth(exchange) && exchange.response !== undefined && !isRateLimited(exchange),
        (exchange) =>
          isKeyRefused(exchange)
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
      mutants: {
        'wants-a-key': sends('Responds with 401 without a key.', {
          status: 401,
          body: 'Unauthorized',
        }),
        forbids: sends('Responds with 403 without a key.', { status: 403, body: 'Unauthorized' }),
      },
    },
    'HEALTH-006': {
      rule: '`GET /health` responds the same with and without `Accept: application/json`.',
      statements: ['4.6.3'],
      reason: 'The service may send this header; a sandbox that rejects it looks broken.',
      probes: ['health/forms'],
      check: checkResponseIfPlainWorks('with Accept', 'the same response as without Accept'),
      mutants: {
        'drops-connection': {
          description: 'Drops the connection if the request accepts JSON.',
          transform: dropInstead(hasAccept),
        },
        'refuses-accept': sends(
          'Refuses Accept: application/json with 406.',
          { status: 406, body: '' },
          hasAccept,
        ),
        'text-with-accept': sends(
          'Responds with text if the request accepts JSON.',
          PAGE,
          hasAccept,
        ),
      },
    },
    'HEALTH-007': {
      rule: '`GET /health` still responds after malformed requests.',
      statements: ['4.6.1', '4.6.5'],
      reason: SURVIVAL_REASON,
      probes: ['health/after'],
      check: checkResponseIfPlainWorks('after refusals', 'the same response as before'),
      mutants: {
        'dies-of-malformed-json': {
          description: 'Responds with 502 after a request that was not JSON.',
          transform: breakAfterMalformedJson(health, () => ({
            status: 502,
            headers: {},
            body: '',
          })),
          areas: ['chat', 'health'],
        },
      },
    },
    'HEALTH-032': {
      rule: 'A 500 response of `GET /health` has the type `internal_error` and the code `health_check_failed`.',
      section: '7',
      statements: ['4.6.7', '4.6.8', '7.b9', '7.b1', '7.b2'],
      reason: 'Only these values distinguish a failed health check from a failed agent.',
      observability: 'provoked',
      check: checkFailedHealthCheck(),
      mutants: {
        'failed-without-code': {
          description: 'Responds to a failed check with the error code of another endpoint.',
          transform: respondInstead(health, () => errorResponse(500, 'server_error')),
        },
        'failed-with-health': {
          ...reports('Responds with 500 and a health report.', 'unhealthy', 500, { error }),
          alsoKills: ['HEALTH-004'],
        },
        'failed-with-text': {
          description: 'Responds with 500 and text.',
          transform: respondInstead(health, () => ({ ...PAGE, status: 500 })),
        },
        'failed-without-message': failsWith(
          'Responds with 500 and omits `error.message`.',
          drop('/error/message'),
        ),
        'failed-type': failsWith(
          'Responds with 500 and its own error type.',
          set('/error/type', 'health_error'),
        ),
      },
      legal: {
        'check-failed': {
          description: 'Responds with 500 because the health check fails.',
          transform: respondInstead(health, () => errorResponse(500, 'health_check_failed')),
        },
      },
    },
  },
};

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
      !isKeyRefused(exchange) &&
      exchange.failure?.kind !== 'timeout',
    (exchange) => (isHealthResponse(exchange) ? [] : [notHealth(exchange, expected)]),
    noResponse,
  );
}

/** A health report or a failed health check, whose body HEALTH-032 judges. */
function isHealthResponse(exchange: Exchange): boolean {
  return isHealthReport(exchange) || statusOf(exchange) === 500;
}

/** Returns whether the connection of a request failed once, and not when it was sent again. */
function hasLostConnection(exchange: Exchange, transcript: Transcript): boolean {
  return exchange.failure !== undefined && isTransient(exchange, transcript);
}

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
  return isAccepted(exchange) && !findHtmlPage(exchange)
    ? { ...finding, received: `${finding.received} with ${describeBody(exchange)}` }
    : finding;
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

function recover(): ReturnType<TransformFactory> {
  let requests = 0;
  const report = unhealthy.transform();
  return (request, forward, clock) =>
    request.endpoint === 'health' && requests++ < 2
      ? report(request, forward, clock)
      : forward(request);
}
