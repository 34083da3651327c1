import type { FastifyInstance } from 'fastify';
import {
  CLOCK_ENDS_MS,
  type AdjustableClock,
  type ClockOffset,
} from '../../platform/adjustable-clock.ts';
import { isoTime } from '../../platform/clock.ts';
import type { StateSharing } from '../background/shared-state.ts';
import { parseMessage } from '../requests/document-checks.ts';
import { RequestError } from '../requests/errors.ts';

/** What changes of the service clock need. */
export interface ClockOptions {
  clock: AdjustableClock;
  /** Resolves when everything that a clock change triggered is done, such as idle closing. */
  settle: () => Promise<void>;
  /** Shares what a test sets with other replicas; undefined for a single service. */
  sharing: StateSharing | undefined;
}

/** The time of the service clock. */
const readClock = ({ clock }: ClockOptions): object => {
  const nowMs = clock.nowMs();
  return { now: isoTime(nowMs), now_ms: nowMs };
};

/**
 * Advances or sets the service clock, and resolves after everything that became due.
 * @param advanceName How messages name the time to advance by.
 * @throws RequestError `bad_request`.
 */
export async function changeClock(
  { clock, settle, sharing }: ClockOptions,
  change: unknown,
  advanceName = '/advance_ms',
): Promise<void> {
  const { advance_ms: advanceMs, set_ms: setMs } = parseMessage('ClockChange', change);
  if ((advanceMs === undefined) === (setMs === undefined)) {
    throw new RequestError('bad_request', 'The body must contain either advance_ms or set_ms.');
  }
  if (advanceMs !== undefined && clock.nowMs() + advanceMs > CLOCK_ENDS_MS) {
    const message = `${advanceName} must not move the clock beyond ${isoTime(CLOCK_ENDS_MS)}.`;
    throw new RequestError('bad_request', message);
  }
  const move = (offset: ClockOffset): ClockOffset => {
    if (advanceMs !== undefined) return clock.planOffset(offset, { advanceMs });
    return setMs === undefined ? offset : clock.planOffset(offset, { setMs });
  };
  if (!sharing) clock.setOffset(move(clock.offset()));
  await sharing?.change((state) => {
    state.clock = move(state.clock);
  });
  await settle();
}

/**
 * `/clock`: responds after every timer that became due has fired, including idle closing. A restart
 * resets the clock to the system time.
 */
export function addClockRoutes(app: FastifyInstance, options: ClockOptions): void {
  app.get('/clock', () => readClock(options));
  app.post('/clock', async ({ body }) => {
    await changeClock(options, body);
    return readClock(options);
  });
  app.put('/clock', async ({ body }) => {
    const { advance_ms: advanceMs, set_ms: setMs } = parseMessage('ClockChange', body);
    if (advanceMs !== undefined || setMs === undefined) {
      const message = 'The body must contain set_ms only. Use POST to advance the clock.';
      throw new RequestError('bad_request', message);
    }
    await changeClock(options, body);
    return readClock(options);
  });
}
