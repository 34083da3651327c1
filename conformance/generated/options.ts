// Generated from tables of options by packaging/generate-options.ts, do not edit.
import type {
  Area,
  CheckReport,
  ExchangeRecord,
  SimulationReport,
} from '../../src/contract/index.ts';
import type { CallTarget, RunOptions } from '../../src/options/generated/options.ts';
import type { ClientCertificate } from '../../src/platform/connection.ts';
import type { KnownFailure } from '../../src/options/shared.ts';
import type { ProxySettings } from '../../src/platform/proxy.ts';
import type { StopSignal } from '../../src/platform/clock.ts';

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

/** Options of `resend`. Only `report` and `exchange` are required. */
export interface ResendOptions {
  /** A report of `check` or `simulate`, or the path of a report or of a recording. */
  report: CheckReport | SimulationReport | string;
  /** The number of the exchange; for a simulation, a chat turn such as `refund-1/3`. */
  exchange: number | string;
  /** Base URL of the sandbox (default: that of the run). */
  url?: string | undefined;
  /** Timeout of chat and user requests in milliseconds (default: 30 000). */
  timeoutMs?: number | undefined;
  /** Sends `apiKey` and `headers` even to a host other than that of the run (default: false). */
  allowOtherHost?: boolean | undefined;
  /** The bearer key of the sandbox, or the key of the service (default: no key). */
  apiKey?: string | undefined;
  /**
   * Sends `apiKey` and `headers` also over plain HTTP to another machine (default: false, which
   * rejects such a URL).
   */
  allowHttp?: boolean | undefined;
  /**
   * Headers of every request and of the voice WebSocket, for example for a gateway. Reports never
   * contain their values.
   */
  headers?: Readonly<Record<string, string>> | undefined;
  /** CA certificates in PEM to trust in addition to the built-in ones. */
  ca?: string | undefined;
  /** Client certificate: `cert`, `key`, and the `passphrase` of the key. */
  clientCertificate?: ClientCertificate | undefined;
  /**
   * URLs of the proxies for `https:` and `http:`, and the hosts to reach directly. The library does
   * not read `HTTPS_PROXY`.
   */
  proxies?: ProxySettings | undefined;
  /**
   * Stops the run. The promise still resolves: the report covers the run until then, like the
   * report of the command after Ctrl-C.
   */
  signal?: StopSignal | undefined;
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
