/**
 * The library: every job of the command line as a function, and the reference agent and the service in
 * a test. One process can run many of them at the same time.
 *
 *     const agent = await startAgent();
 *     const report = await check({ url: agent.url, areas: ['chat', 'health'] });
 *     const service = await startService({ clock: manualClock(Date.now()) });
 *
 * A function rejects with a TypeError if an option is unknown or invalid, and the message says what to
 * change. It rejects with a SandboxKitError if it can't do its work with valid options, for example
 * because a file can't be read or a port is in use; `code` says which.
 *
 * @packageDocumentation
 */
export {
  startAgent,
  type AgentCalls,
  type AgentControls,
  type AgentFaultStatus,
  type AgentOptions,
  type AgentRequest,
  type RunningAgent,
  type Script,
  type ScriptConditions,
  type ScriptReply,
  type ScriptRule,
  type ScriptToolCall,
  type TlsOptions,
  type VoiceOptions,
} from '../reference-agent/index.ts';
export type {
  CallerRecording,
  IngestLogLine,
  RunningService,
  ServiceControls,
  ServiceEnvironment,
  ServiceKey,
  ServiceOptions,
} from './service/index.ts';
export {
  systemClock,
  type Clock,
  type Deadline,
  type Disposal,
  type StopSignal,
} from './platform/clock.ts';
export { manualClock, type ManualClock } from './platform/manual-clock.ts';
export { SandboxKitError, type SandboxKitErrorCode } from './platform/sandbox-kit-error.ts';
export type { Log, LogFields } from './platform/log.ts';
export type { ClientCertificate } from './platform/connection.ts';
export type { ProxySettings } from './platform/proxy.ts';
export type { FaultStatus } from './http-kit/faults.ts';
export type { RequestSummary } from './http-kit/request-summary.ts';
export {
  check,
  diagnose,
  grade,
  load,
  mergeLoadReports,
  simulate,
  startService,
  validateExchange,
  type CallTarget,
  type CheckOptions,
  type DiagnoseOptions,
  type DiagnosisReport,
  type Exchange,
  type ExchangeFinding,
  type ExchangeHeaders,
  type ExchangeRequest,
  type ExchangeResponse,
  type GradeOptions,
  type JudgeClientOptions,
  type JudgingService,
  type KnownFailure,
  type LoadOptions,
  type LoadProgress,
  type LoadShardOptions,
  type MergeLoadOptions,
  type ModelEndpoint,
  type RunOptions,
  type SimulateOptions,
  type SpeechModel,
} from './library/index.ts';
/**
 * Messages of both interfaces, reports, and documents, by the title of their schema.
 * `sandbox-kit/schemas/TITLE.json` is the schema.
 */
export type * from './contract/generated/types.ts';
