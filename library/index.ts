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
export { startAgent } from './agent.ts';
export type {
  AgentCalls,
  AgentControls,
  AgentFaultStatus,
  AgentOptions,
  AgentRequest,
  RunningAgent,
  TlsOptions,
  VoiceOptions,
} from '../reference-agent/index.ts';
export type {
  CallerRecording,
  IngestLogLine,
  RunningService,
  ServiceControls,
  ServiceEnvironment,
  ServiceKey,
  ServiceOptions,
} from '../src/service/index.ts';
export {
  systemClock,
  type Clock,
  type Deadline,
  type Disposal,
  type StopSignal,
} from '../src/platform/clock.ts';
export { manualClock, type ManualClock } from '../src/platform/manual-clock.ts';
export { SandboxKitError, type SandboxKitErrorCode } from '../src/platform/sandbox-kit-error.ts';
export type { Log, LogFields } from '../src/platform/log.ts';
export type { ClientCertificate } from '../src/platform/connection.ts';
export type { ProxySettings } from '../src/platform/proxy.ts';
export type { FaultStatus } from '../src/http-kit/faults.ts';
export type { RequestSummary } from '../src/http-kit/request-summary.ts';
export type {
  CheckOptions,
  DiagnoseOptions,
  DiagnosisReport,
  EndpointState,
  ExchangeFinding,
  GradeOptions,
  JudgeClientOptions,
  ResendOptions,
} from '../conformance/index.ts';
export type {
  LoadOptions,
  LoadProgress,
  LoadShardOptions,
  MergeLoadOptions,
} from '../load/index.ts';
export type { CallTarget, RunOptions } from '../src/options/generated/options.ts';
export type { KnownFailure } from '../src/options/shared.ts';
export type { ModelEndpoint, SimulateOptions } from '../src/service/index.ts';
export type { SpeechModel } from '../src/voice/speech/index.ts';
export type { TranscriptionModel } from '../src/voice/transcription/index.ts';
export { check } from './check.ts';
export { diagnose } from './diagnose.ts';
export {
  validateExchange,
  type Exchange,
  type ExchangeHeaders,
  type ExchangeRequest,
  type ExchangeResponse,
} from './exchange.ts';
export { grade } from './grade.ts';
export { load } from './load.ts';
export { mergeLoadReports } from './merge-load-reports.ts';
export { resend } from './resend.ts';
export { startService, type JudgingService } from './service.ts';
export { simulate } from './simulate.ts';
/**
 * Messages of both interfaces, reports, and documents, by the title of their schema.
 * `sandbox-kit/schemas/TITLE.json` is the schema.
 */
export type * from '../src/contract/generated/types.ts';
