import type { ServiceProbe, ServiceProbeContext } from './context.ts';
import { resolvePointer } from '../../../src/contract/index.ts';
import { cost } from '../../engine/probe.ts';
import { isAccepted } from '../../engine/transcript/reading.ts';
import { createControlStep } from './requests.ts';
import type { ControlStep } from './steps.ts';

/** The step that sets the service clock back to real time. */
export const CLOCK_RESET_STEP: ControlStep = 'clock put back';

/** Advances the service clock; returns false if the service has no clock that can be advanced. */
export async function advanceClock(
  context: ServiceProbeContext,
  step: ControlStep,
  ms: number,
): Promise<boolean> {
  const { service } = context;
  if (!service.hasControlApi) return false;
  const response = await context.send(createControlStep(step, '/clock', { advance_ms: ms }));
  if (!response || !isAccepted(response)) return false;
  service.clockAdvancedMs += ms;
  return true;
}

/**
 * Sets the service clock back by as much as the run advanced it, and keeps any other offset. It also
 * runs after an interruption.
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
    // Scoring that is due now would otherwise be due a day after the reset.
    await context.send(createControlStep('drain', '/drain'));
    const clock = await context.send(
      createControlStep('clock as moved', '/clock', undefined, 'GET'),
    );
    const nowMs = resolvePointer(clock?.json, '/now_ms');
    if (typeof nowMs !== 'number') return;
    const resetMs = nowMs - service.clockAdvancedMs;
    await context.send(createControlStep(CLOCK_RESET_STEP, '/clock', { set_ms: resetMs }, 'PUT'));
  },
};
