import { valueAt } from '../../../src/contract/index.ts';
import { isAccepted, type Transcript } from '../../engine/transcript/reading.ts';
import { CLOCK_RESET_STEP } from './clock.ts';

const HOUR_MS = 3_600_000;

/** Warns that the run advanced the service's clock and could not set it back. */
export function serviceNotices({ exchanges }: Transcript): readonly string[] {
  const moves = exchanges.filter((one) => one.endpoint === 'admin' && isAccepted(one));
  if (moves.some(({ step }) => step === CLOCK_RESET_STEP)) return [];
  const movedMs = moves
    .map(({ sent }) => valueAt(sent, '/advance_ms'))
    .reduce((sum: number, ms) => sum + (typeof ms === 'number' ? ms : 0), 0);
  if (movedMs === 0) return [];
  const hours = Math.round((movedMs / HOUR_MS) * 10) / 10;
  return [
    `The clock of the service was moved on by ${hours} hours, and could not be put back: start the service anew for the time of its machine.`,
  ];
}
