// Generated from tables of options by library/generate-options.ts, do not edit.
import type { Area, CheckReport, ExchangeRecord } from '../../src/contract/index.ts';
import type { CallTarget, RunOptions } from '../../src/options/generated/options.ts';
import type { KnownFailure } from '../../src/options/shared.ts';

/** Options of `check`. Only `url` is required. */
export interface CheckOptions extends RunOptions {
  /**
   * The areas: `chat`, `health`, `users`, `voice`, or only `service` (default: all areas of a
   * sandbox).
   */
  areas?: readonly Area[] | undefined;
  /**
   * Ids or patterns such as `USERS-*` of the requirements to judge (default: all that the areas
   * have).
   */
  only?: readonly string[] | undefined;
  /** Ids or patterns of the requirements to skip. */
  skip?: readonly string[] | undefined;
  /** Requirement set of a release, such as 0.2; later requirements are notes (default: newest). */
  requirements?: string | undefined;
  /** Header of the service's key; service only (default: `x-service-api-key`). */
  apiKeyHeader?: string | undefined;
  /** Messages that make the agent use a tool, at most 50 (default: three messages to a shop). */
  prompts?: readonly string[] | undefined;
  /** Requests in flight, 1 to 64 (default: 6). */
  concurrency?: number | undefined;
  /** Maximum requests per second (default: no limit). */
  rate?: number | undefined;
  /** Timeout of chat and user requests in milliseconds (default: 30 000). */
  timeoutMs?: number | undefined;
  /** Also sends large, numerous, or slow requests; service only (default: true on loopback). */
  intrusive?: boolean | undefined;
  /** Failures to accept, each with the reason. */
  knownFailures?: readonly KnownFailure[] | undefined;
  /** Treats warnings as failures (default: false). */
  strict?: boolean | undefined;
  /** An earlier report. The new report then has a `comparison`. */
  compareWith?: CheckReport | undefined;
  /** Path of a file for all exchanges, which `grade` can judge again. */
  recordFile?: string | undefined;
  /** Settings of calls. */
  voice?: CallTarget | undefined;
  /** Called after every exchange. */
  onExchange?: ((exchange: ExchangeRecord) => void) | undefined;
}

/** Options of `grade`. Only `recordFile` is required. */
export interface GradeOptions {
  /** A file that `check` wrote with `recordFile`, or `sandbox-kit check --record`. */
  recordFile: string;
  /**
   * Ids or patterns such as `USERS-*` of the requirements to judge (default: all that the areas
   * have).
   */
  only?: readonly string[] | undefined;
  /** Ids or patterns of the requirements to skip. */
  skip?: readonly string[] | undefined;
  /** Requirement set of a release, such as 0.2; later requirements are notes (default: newest). */
  requirements?: string | undefined;
  /** Failures to accept, each with the reason. */
  knownFailures?: readonly KnownFailure[] | undefined;
  /** Treats warnings as failures (default: false). */
  strict?: boolean | undefined;
}

/** Options of `diagnose`. Only `url` is required. */
export interface DiagnoseOptions extends RunOptions {
  /**
   * The areas: `chat`, `health`, `users`, `voice`, or only `service` (default: all areas of a
   * sandbox).
   */
  areas?: readonly Area[] | undefined;
  /** Header of the service's key; service only (default: `x-service-api-key`). */
  apiKeyHeader?: string | undefined;
  /** Settings of calls. If `url` is set, the WebSocket must open. */
  voice?: CallTarget | undefined;
  /** Timeout of chat and user requests in milliseconds (default: 30 000). */
  timeoutMs?: number | undefined;
}

/** Options of `service.judgeClient`. */
export interface JudgeClientOptions {
  /** Treats warnings as failures (default: false). */
  strict?: boolean | undefined;
  /** Failures to accept, each with the reason. */
  knownFailures?: readonly KnownFailure[] | undefined;
}
