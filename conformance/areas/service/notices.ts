import { resolvePointer } from '../../../src/contract/index.ts';
import { isAccepted, type Transcript } from '../../engine/transcript/reading.ts';
import { CLOCK_RESET_STEP } from './clock.ts';
import { isStep } from './steps.ts';

const HOUR_MS = 3_600_000;

/** Warns that the run advanced the service clock and could not reset it. */
export function serviceNotices({ exchanges }: Transcript): readonly string[] {
  const controls = exchanges.filter(
    (exchange) => exchange.endpoint === 'admin' && isAccepted(exchange),
  );
  if (controls.some((exchange) => isStep(exchange, 'admin', CLOCK_RESET_STEP))) return [];
  const advancedMs = controls
    .map(({ sent }) => resolvePointer(sent, '/advance_ms'))
    .reduce((sum: number, ms) => sum + (typeof ms === 'number' ? ms : 0), 0);
  if (advancedMs === 0) return [];
  const hours = Math.round((advancedMs / HOUR_MS) * 10) / 10;
  return [
    `The run advanced the service clock by ${hours} hours and could not reset it. Restart the service to reset the clock.`,
  ];
}
