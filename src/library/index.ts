/** The functions of the library. The commands of the CLI also call them. */
export type {
  CheckOptions,
  DiagnoseOptions,
  DiagnosisReport,
  ExchangeFinding,
  GradeOptions,
  JudgeClientOptions,
} from '../../conformance/index.ts';
export type {
  LoadOptions,
  LoadProgress,
  LoadShardOptions,
  MergeLoadOptions,
} from '../../load/index.ts';
export type { CallTarget, RunOptions } from '../options/generated/options.ts';
export type { KnownFailure } from '../options/shared.ts';
export type { ModelEndpoint, SimulateOptions } from '../service/index.ts';
export type { SpeechModel } from '../voice/speech/index.ts';
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
export { startService, type JudgingService } from './service.ts';
export { simulate } from './simulate.ts';
