/** Times in responses that differ from the clock of this machine. They are only reported. */
import { resolvePointer } from '../../src/contract/index.ts';
import { instantMs, HOUR_MS, MINUTE_MS } from '../../src/platform/clock.ts';
import { type Check, checkEach } from '../engine/checks/check.ts';
import type { Exchange } from '../engine/transcript/reading.ts';

/** Why a time that is not the current one is reported. */
export const SKEW_REASON =
  "A wrong clock puts events in the wrong order. The specification doesn't require the current time, so a difference is only reported.";

/** Reports a time of responses that is not the current one. `pointerOf` returns where it is. */
export function checkClockSkew(
  isResponse: (exchange: Exchange) => boolean,
  pointerOf: (exchange: Exchange) => string,
  unjudged: Check['unjudged'],
): Check {
  const timeOf = (exchange: Exchange): number | undefined => {
    const time = resolvePointer(exchange.json, pointerOf(exchange));
    return typeof time === 'string' ? instantMs(time) : undefined;
  };
  return checkEach(
    (exchange) => isResponse(exchange) && timeOf(exchange) !== undefined,
    (exchange, { run }) => {
      const kitMs = (instantMs(run.startedAt) ?? 0) + exchange.endedMs;
      const skewMs = (timeOf(exchange) ?? kitMs) - kitMs;
      if (Math.abs(skewMs) < MINUTE_MS) return [];
      return [
        {
          exchange: exchange.id,
          pointer: pointerOf(exchange),
          expected: 'within 60 s of the clock of this machine',
          received: formatSkew(skewMs),
          hint: skewHint(skewMs),
        },
      ];
    },
    unjudged,
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

/** How far a time that is wrong by whole hours may be from them, in milliseconds. */
const NEAR_MS = 30_000;

/** Returns the likely cause: time zones differ by quarters of an hour, drifting clocks don't. */
function skewHint(skewMs: number): string {
  const isNear = (ms: number): boolean => Math.abs(Math.abs(skewMs) - ms) < NEAR_MS;
  if (isNear(12 * HOUR_MS)) {
    return 'This looks like a 12-hour clock: write hours from 00 to 23. Or it is local time marked as UTC.';
  }
  const quarters = Math.round(Math.abs(skewMs) / (HOUR_MS / 4));
  return isNear((quarters * HOUR_MS) / 4) && Math.abs(skewMs) < 15 * HOUR_MS
    ? 'This looks like local time marked as UTC. Send UTC with Z, or the offset of the time zone.'
    : "Synchronize the clock of the sandbox with NTP, send the current time, and don't cache the response.";
}
