/** How long `GET /health` takes, and whether its clock is right (spec 2.10, 8). */
import { HEALTH_RESPONSE_MS_TARGET, HEALTH_TIMEOUT_MS } from '../../../src/contract/index.ts';
import { type Check, checkEach } from '../../engine/checks/check.ts';
import { checkMedianTime, explainLateness, isSpoiled } from '../../engine/checks/response-times.ts';
import { delay, to } from '../../engine/mutants/combinators.ts';
import type { Subject } from '../../engine/requirement.ts';
import { durationMs, type Exchange } from '../../engine/transcript/reading.ts';
import { checkClockSkew, SKEW_REASON } from '../clock-skew.ts';
import {
  hasAccept,
  isHealth,
  isHealthReport,
  noReport,
  noReportHasField,
  noResponse,
} from './reports.ts';

export const times: Subject = {
  requirements: {
    'HEALTH-030': {
      level: 'target',
      rule: 'The median latency of `GET /health` is under 2 s.',
      statements: ['8.b5'],
      reason:
        'The service requests it before each simulation, so a slow response delays every start.',
      check: checkMedianTime('health', HEALTH_RESPONSE_MS_TARGET, noReport),
      mutants: {
        slow: {
          description: 'Takes 2.5 s for each response.',
          transform: delay(to('health'), 2_500),
          clockFactor: 10,
        },
      },
      legal: {
        'slow-but-in-time': {
          description: 'Takes 1 s for each response.',
          transform: delay(to('health'), 1_000),
          clockFactor: 5,
        },
      },
    },
    'HEALTH-031': {
      rule: 'Every `GET /health` response arrives within 10 s.',
      statements: ['8.b6'],
      reason: "The service gives up after 10 s, and the simulation doesn't start.",
      probes: ['preflight'],
      check: checkTimeout(),
      mutants: {
        'once-beyond-ten-seconds': {
          description: 'Takes 12 s for one response.',
          transform: delay(hasAccept, 12_000),
          clockFactor: 5,
        },
        'beyond-ten-seconds': {
          description: 'Takes 12 s for each response.',
          transform: delay(to('health'), 12_000),
          clockFactor: 10,
          alsoKills: ['HEALTH-030'],
        },
      },
    },
    'HEALTH-033': {
      level: 'may',
      rule: '`timestamp` is within 60 s of the clock of the machine that runs the check.',
      statements: ['2.10.3'],
      reason: SKEW_REASON,
      check: checkClockSkew(isHealthReport, () => '/timestamp', noReportHasField),
    },
  },
};

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
              hint: 'Respond without calling a model or another service, or give up such a call after a second.',
            },
          ],
    (transcript) => {
      const timed = transcript.exchanges.filter(isTimed);
      return timed.length > 0 ? explainLateness(timed) : noResponse(transcript);
    },
  );
}
