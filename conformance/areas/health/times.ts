/** How long `GET /health` takes, and whether its clock is right (spec 2.10, 8). */
import { HEALTH_RESPONSE_MS_TARGET, HEALTH_TIMEOUT_MS } from '../../../src/contract/index.ts';
import { instantMs, HOUR_MS } from '../../../src/platform/clock.ts';
import { isObject } from '../../../src/platform/json.ts';
import { type Check, checkEach } from '../../engine/checks/check.ts';
import { checkMedianTime, explainLateness, isSpoiled } from '../../engine/checks/targets.ts';
import { delay, to } from '../../engine/mutants/combinators.ts';
import type { Subject } from '../../engine/requirement.ts';
import { durationMs, type Exchange } from '../../engine/transcript/reading.ts';
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
          clockFactor: 8,
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
      reason:
        "A wrong clock puts events in the wrong order. The specification doesn't require the current time, so a difference is only reported.",
      check: checkClockSkew(),
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
            },
          ],
    (transcript) => {
      const timed = transcript.exchanges.filter(isTimed);
      return timed.length > 0 ? explainLateness(timed) : noResponse(transcript);
    },
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
