import { valueAt } from '../../../src/contract/index.ts';
import { isAccepted } from '../../engine/transcript/reading.ts';
import { cost } from '../../engine/probe.ts';
import { admin } from './control-probes.ts';
import type { ServiceProbe, ServiceProbeContext } from './context.ts';

/** The step that puts the clock back. */
export const CLOCK_RESET_STEP = 'clock put back';

/** Moves the clock of the service on, where it has one that can be; whether it did. */
export async function moveClock(
  context: ServiceProbeContext,
  step: string,
  ms: number,
): Promise<boolean> {
  const { service } = context;
  if (!service.hasControlApi) return false;
  const answer = await context.send(admin(step, '/clock', { advance_ms: ms }));
  if (!answer || !isAccepted(answer)) return false;
  service.clockAdvancedMs += ms;
  return true;
}

/**
 * Puts the clock back by as much as the run moved it on, whatever else moved it meanwhile; after an
 * interruption as well. No timer of the service waits longer for that.
 */
export const clockReset: ServiceProbe = {
  id: 'service/clock',
  area: 'service',
  phase: 'end',
  intrusive: true,
  cleansUp: true,
  exercises: [],
  cost: cost(3),
  async run(context) {
    const { service } = context;
    if (service.clockAdvancedMs === 0) return;
    // What is due to be scored now would be due only in a day.
    await context.send(admin('drain', '/drain'));
    const now = await context.send(admin('clock as moved', '/clock', undefined, 'GET'));
    const nowMs = valueAt(now?.json, '/now_ms');
    if (typeof nowMs !== 'number') return;
    await context.send(
      admin(CLOCK_RESET_STEP, '/clock', { set_ms: nowMs - service.clockAdvancedMs }, 'PUT'),
    );
  },
};
