/**
 * The library: starts the service and the reference agent in a test. One process can run many of
 * them.
 *
 *     const service = await startService({ clock: manualClock(Date.now()) });
 *     const agent = await startAgent();
 *
 * Both reject with a TypeError if an option is unknown or has the wrong type, and with an error named
 * `StartError` if they can't start, for example because a port is in use or the seed data is invalid.
 * The message says what to change.
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
/** Messages of both interfaces. `sandbox-kit schemas NAME` prints their schemas. */
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
