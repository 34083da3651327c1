/**
 * sandbox-kit for tests: the service and the reference agent, many side by side in one process.
 *
 *     const service = await startService({ clock: manualClock(Date.now()) });
 *     const agent = await startAgent();
 */
export { startAgent, type AgentOptions, type RunningAgent } from '../reference-agent/index.ts';
export {
  startService,
  type RunningService,
  type ServiceKey,
  type ServiceOptions,
} from './service/index.ts';
export {
  manualClock,
  systemClock,
  type Clock,
  type Deadline,
  type ManualClock,
} from './shared/clock.ts';
