/** `GET /health` of a sandbox with voice (spec 2.10, 4.6). */
import { findViolations, HEALTH_TIMEOUT_MS } from '../../../src/contract/index.ts';
import { isObject } from '../../../src/platform/json.ts';
import { type Check, checkEach, outcomeFinding, unjudgedAs } from '../../engine/checks/check.ts';
import type { TransformFactory } from '../../engine/mutants/mutant.ts';
import { type Subject, withDefaults } from '../../engine/requirement.ts';
import {
  describeOutcome,
  isAccepted,
  isRateLimited,
  PREFLIGHT,
  type Exchange,
} from '../../engine/transcript/reading.ts';
import { unlessAbsent } from './absence.ts';
import { checkCalls } from './evidence.ts';
import { AFTER_CALLS } from './requests.ts';

const isHealth = ({ endpoint }: Exchange): boolean => endpoint === 'health';

const defaults = { probes: ['voice/after'], wrapCheck: unlessAbsent } as const;

export const health: Subject = {
  requirements: withDefaults(defaults, {
    'VOICE-082': {
      rule: '`GET /health` still conforms after the calls.',
      statements: ['4.6.1', '4.6.5', '2.10.1', '2.10.3'],
      reason:
        'The service checks health before every simulation and skips a sandbox that looks unhealthy.',
      check: checkHealthAfterCalls(),
      mutants: {
        'health-lost': {
          description: 'Responds to `GET /health` with 500 after the first request.',
          transform: breakHealth,
        },
      },
    },
    'VOICE-083': {
      level: 'may',
      rule: 'The health response of a sandbox with voice has `webrtc_status`.',
      statements: ['2.10.9', '2.10.10'],
      reason:
        "The specification doesn't say whether a voice agent must send it, so it is only reported.",
      check: checkCalls(
        (exchange) => isHealth(exchange) && isAccepted(exchange) && isObject(exchange.json),
        (exchange) =>
          isObject(exchange.json) && 'webrtc_status' in exchange.json
            ? undefined
            : ['webrtc_status', 'no webrtc_status'],
        unjudgedAs('not_observed', 'GET /health got no response with a JSON object.'),
      ),
    },
  }),
};

/** Checks the health response after all calls, if it conformed before them. */
function checkHealthAfterCalls(): Check {
  const problemsOf = (exchange: Exchange): string[] => {
    const status = exchange.response?.status ?? 0;
    if (status !== 200 && status !== 503) return [describeOutcome(exchange)];
    return findViolations('Health', exchange.json).map(
      ({ pointer, received }) => `${received} at ${pointer}`,
    );
  };
  const isPreflightHealth = (exchange: Exchange): boolean =>
    isHealth(exchange) && exchange.probe === PREFLIGHT && !isRateLimited(exchange);
  return checkEach(
    (exchange, { exchanges }) =>
      isHealth(exchange) &&
      exchange.step === AFTER_CALLS &&
      exchanges.some((before) => isPreflightHealth(before) && problemsOf(before).length === 0),
    (exchange) => {
      const expected = `a valid health response within ${HEALTH_TIMEOUT_MS / 1000} s, as before the calls`;
      return problemsOf(exchange).length === 0 ? [] : [outcomeFinding(exchange, expected)];
    },
    ({ exchanges }) => {
      const before = exchanges.find(isPreflightHealth);
      const isInvalid = before && problemsOf(before).length > 0;
      const reason = isInvalid
        ? `GET /health didn't conform before the calls, either (exchange ${before.id}).`
        : 'GET /health was not requested after the calls.';
      return { verdict: 'blocked', reason };
    },
  );
}

function breakHealth(): ReturnType<TransformFactory> {
  let healthRequests = 0;
  return (request, forward) => {
    const isBroken = request.endpoint === 'health' && ++healthRequests > 1;
    return isBroken ? Promise.resolve({ status: 500, headers: {}, body: '' }) : forward(request);
  };
}
