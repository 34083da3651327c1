/**
 * sandbox-kit for tests: the service and the reference agent, many side by side in one process.
 *
 *     const service = await startService({ clock: manualClock(Date.now()) });
 *     const agent = await startAgent();
 *
 * Both reject with a TypeError about an option that is unknown or of another type, and with an error
 * of the name `StartError`, which says what to change, where the machine or the options do not allow
 * it: a port that is taken, a folder that can't be used, a seed that makes no sense.
 */
export {
  startAgent,
  type AgentOptions,
  type RunningAgent,
  type Script,
  type TlsOptions,
  type VoiceOptions,
} from '../reference-agent/index.ts';
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
} from './platform/clock.ts';
export type { Log, LogFields } from './platform/log.ts';
/** What is sent to them and what comes back, as the schemas have it; `sandbox-kit schemas NAME`. */
export type {
  AgentFault,
  ChatRequest,
  ChatResponse,
  ClosedConversation,
  EvalDefinition,
  LiveSettings,
  ProductionSessionPage,
  SeedDocument,
  ServiceFault,
  SessionVerdict,
  SimulationSessionPage,
  TranscriptUpload,
} from './contract/index.ts';
