/** The functions of the library. The commands of the CLI also call them. */
export { check, type CheckOptions } from './check.ts';
export type { DiagnosisReport, ExchangeFinding } from '../../conformance/index.ts';
export type { CallTarget } from './call-target.ts';
export { diagnose, type DiagnoseOptions } from './diagnose.ts';
export {
  validateExchange,
  type Exchange,
  type ExchangeHeaders,
  type ExchangeRequest,
  type ExchangeResponse,
} from './exchange.ts';
export { grade, type GradeOptions } from './grade.ts';
export { load, type LoadOptions } from './load.ts';
export type { LoadShardOptions } from './load-shard.ts';
export { mergeLoadReports, type MergeLoadOptions } from './merge-load-reports.ts';
export type { LoadProgress } from '../../load/index.ts';
export type { KnownFailure, ModelEndpoint, RunOptions, SpeechModel } from './options.ts';
export { startService, type JudgeClientOptions, type JudgingService } from './service.ts';
export { simulate, type SimulateOptions } from './simulate.ts';
