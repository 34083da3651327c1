import { systemClock } from '../../platform/clock.ts';
import {
  startSimulationRunner,
  type SimulationRunner,
  type SimulationRunnerOptions,
} from './simulation-runner.ts';
import { openUserModel, type UserModelOptions } from './user-model.ts';

/** Starts to run simulations, on the machine's clock: sandboxes and models live in real time. */
export function startSimulator(
  userModel: UserModelOptions | undefined,
  deps: Pick<SimulationRunnerOptions, 'store' | 'clock' | 'log' | 'onKept' | 'speech'>,
): SimulationRunner {
  const machineClock = systemClock;
  const model = userModel && openUserModel({ ...userModel, clock: machineClock });
  return startSimulationRunner({ ...deps, model, machineClock });
}
