// Generated from tables of options by packaging/generate-options.ts, do not edit.
import type { CallTarget, RunOptions } from '../../options/generated/options.ts';
import type { Clock } from '../../platform/clock.ts';
import type {
  EvalDefinition,
  Persona,
  Scenario,
  SeedDocument,
  SimulatedSessionReport,
  SimulationReport,
} from '../../contract/index.ts';
import type { Log } from '../../platform/log.ts';
import type { ModelEndpoint } from '../model/endpoint.ts';
import type { ServiceKey } from '../options.ts';
import type { SpeechModel } from '../../voice/speech/index.ts';
import type { TranscriptionModel } from '../../voice/transcription/index.ts';

/** Options of `simulate`. Only `url` is required. */
export interface SimulateOptions extends RunOptions {
  /**
   * Scenarios, or patterns of scenario files: a file, a directory, a glob such as
   * `scenarios/*.scenario.yaml`, or ids of shipped scenarios such as `refund-*` (default: those of
   * `set`).
   */
  scenarios?: readonly (Scenario | string)[] | undefined;
  /**
   * Shipped scenarios to run, unless `scenarios` selects others: `general` is for any agent that
   * talks, `shop` for the reference agent (default: general).
   */
  set?: 'general' | 'shop' | undefined;
  /**
   * Id of the persona of all users: `hesitant`, `on-a-train`, `rushed`, `speakerphone`, one of
   * `personas`, or one next to the files (default: that of the scenario).
   */
  persona?: string | undefined;
  /** Personas that scenarios refer to, in addition to those next to the files. */
  personas?: readonly Persona[] | undefined;
  /** Evals that scenarios refer to, in addition to those next to the files. */
  evals?: readonly EvalDefinition[] | undefined;
  /** Sessions per scenario, 1 to 1000 (default: samples of the scenario, or 1). */
  samples?: number | undefined;
  /** Sessions at the same time, 1 to 100 (default: 5; voice: 10). */
  concurrency?: number | undefined;
  /** An earlier report. The new report then has a `comparison`. */
  compareWith?: SimulationReport | undefined;
  /** Replaces the channel of all scenarios. */
  channel?: 'chat' | 'voice' | undefined;
  /** Settings of calls. */
  voice?: CallTarget | undefined;
  /** The language model that plays simulated users of mode `llm`. */
  userModel?: ModelEndpoint | undefined;
  /** The LLM judge, for evals of kind `judge`. */
  judge?: ModelEndpoint | undefined;
  /** The speech API for simulated users in calls (default: the built-in synthesizer). */
  speech?: SpeechModel | undefined;
  /**
   * Speech recognition that transcribes the agent in calls, to compare its speech with its text
   * (default: not compared).
   */
  transcription?: TranscriptionModel | undefined;
  /** Called with each session when it ends. */
  onSession?: ((session: SimulatedSessionReport) => void) | undefined;
  /** Receives log lines, which contain no text of conversations (default: no log). */
  log?: Log | undefined;
}

/** The options of `startService`. */
export interface ServiceOptions {
  /** Port to listen on; 0, the default, picks a free port. */
  port: number;
  /** Host name or IP address to listen on (default: 127.0.0.1). */
  host: string;
  /** Name of the header that carries the API key (default: `x-service-api-key`, spec 5). */
  apiKeyHeader: string;
  /** Base URL of deep links (default: URL of the service). */
  appUrl: string;
  /**
   * How long a service that stops keeps serving while `/ready` responds with 503, in milliseconds,
   * so that load balancers send it no more requests (default: 0).
   */
  drainMs: number;
  /**
   * How long spans are kept after the day when their conversation began, in milliseconds: two days
   * or more. Results are kept (default: all spans are kept).
   */
  retentionMs: number;
  /** Data directory (default: a temporary directory that is removed on stop). */
  dataDir: string;
  /**
   * URL of a PostgreSQL database that keeps all data instead of the data directory. Any number of
   * services can use it at the same time.
   */
  databaseUrl: string;
  /** Seed data: loaded at the start and restored by a reset to the seed. */
  seed: SeedDocument;
  /**
   * Random seed for the session ids of live traces (default: random). Ids in seed data and
   * transcripts depend only on the document.
   */
  randomSeed: string;
  /**
   * Base of the service clock; may be manual. `/__admin/clock` moves the service clock ahead of it.
   * The offset is not stored: a restarted service shows this clock's time again, and treats records
   * with later times as received at the start.
   */
  clock: Clock;
  /**
   * Reports how many sessions of the seed data are stored, out of how many. The last call comes
   * before the start completes. Seed data loaded later is not reported.
   */
  onSeedProgress: (done: number, total: number) => void;
  /** Receives log lines (default: no log). */
  log: Log;
  /**
   * Configured API keys; the first one also opens `/__admin`. Without any, a service on loopback
   * creates a development key. Keys configured at an earlier start stop working unless they are
   * configured again. Keys created by `/__admin/keys` keep working.
   */
  keys: readonly ServiceKey[];
  /** The LLM judge, for evals of kind `judge`. */
  judge: ModelEndpoint;
  /** The language model that plays simulated users of mode `llm`. */
  userModel: ModelEndpoint;
  /** The speech API for simulated users in calls (default: the built-in synthesizer). */
  speech: SpeechModel;
  /**
   * Speech recognition that transcribes the agent in calls, to compare its speech with its text
   * (default: not compared).
   */
  transcription: TranscriptionModel;
  /**
   * Records the requests of callers with their bodies, so that `judgeClient` can judge them. The
   * recording takes at most 128 MiB of memory and contains no keys (default: true in the library,
   * false in `serve`).
   */
  recordCallers: boolean;
}
