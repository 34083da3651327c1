import * as z from 'zod';
import type { SeedDocument } from '../../contract/index.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import * as options from '../../platform/options.ts';
import type { SpeechModel } from '../../voice/speech/index.ts';
import { isKey } from '../domain/authentication.ts';
import type { KitFunctions } from '../domain/kit-functions.ts';
import type { ModelEndpoint } from '../model/endpoint.ts';

/** An API key that the service accepts, and its owner. */
export interface ServiceKey {
  /** 8 to 256 visible ASCII characters. */
  key: string;
  /** Name of the owner (default: `development`). */
  owner?: string;
}

/** The options of `startService`. */
export interface ServiceOptions {
  /** Address to listen on (default: `127.0.0.1`). */
  host: string;
  /** Port to listen on; 0, the default, picks a free port. */
  port: number;
  /** Data directory (default: a temporary directory that is removed on stop). */
  dataDir: string;
  /**
   * URL of a PostgreSQL database that keeps all data instead of the data directory. Any number of
   * services can use it at the same time.
   */
  databaseUrl: string;
  /**
   * Base of the service clock; may be manual. `/__admin/clock` moves the service clock ahead of it.
   * The offset is not stored: a restarted service shows this clock's time again, and treats records
   * with later times as received at the start.
   */
  clock: Clock;
  /** Seed data: loaded at the start and restored by a reset to the seed. */
  seed: SeedDocument;
  /**
   * Reports how many sessions of the seed data are stored, out of how many. The last call comes
   * before the start completes. Seed data loaded later is not reported.
   */
  onSeedProgress: (done: number, total: number) => void;
  /**
   * Random seed for the session ids of live traces (default: random). Ids in seed data and
   * transcripts depend only on the document.
   */
  randomSeed: string;
  log: Log;
  /** Name of the header that carries the API key (default: `x-service-api-key`, spec 5). */
  apiKeyHeader: string;
  /**
   * Configured API keys; the first one also opens `/__admin`. Without any, a service on loopback
   * creates a development key. Keys configured at an earlier start stop working unless they are
   * configured again. Keys created by `/__admin/keys` keep working.
   */
  keys: readonly ServiceKey[];
  /** The LLM judge for evals of kind `judge`. */
  judge: ModelEndpoint;
  /** The language model that plays simulated users of mode `llm`. */
  userModel: ModelEndpoint;
  /** The speech API for simulated users in calls (default: the built-in synthesizer). */
  speech: SpeechModel;
  /** Base URL of the deep links (default: the URL of the service). */
  appUrl: string;
  /**
   * Records the requests of callers with their bodies, so that `judgeClient` can judge them. The
   * recording takes at most 128 MiB of memory and contains no keys (default: true in the library,
   * false in `serve`).
   */
  recordCallers: boolean;
  /**
   * How long a service that stops keeps serving while `/ready` responds with 503, in milliseconds, so
   * that load balancers send it no more requests (default: 0).
   */
  drainMs: number;
  /**
   * How long spans are kept after the day when their conversation began, in milliseconds: two days or
   * more. Results are kept (default: all spans are kept).
   */
  retentionMs: number;
}

/** The options of the service, and what the package above it adds to those of its caller. */
export interface ServiceSetup extends ServiceOptions {
  /** Functions of other packages. Without them, the pages leave out the actions that need them. */
  kit: KitFunctions;
}

/** The options with which a service starts, with their defaults where it needs a value. */
export type StartOptions = Partial<ServiceSetup> & Pick<ServiceOptions, 'host' | 'keys'>;

/** A conversation is closed after a day without spans, and then scored. */
const RETENTION_MS_MIN = 2 * 86_400_000;

/** The form of an API key, in messages. */
export const KEY_FORM = 'a text of 8 to 256 visible ASCII characters without spaces';

const keyOption = z.custom((value) => typeof value === 'string' && isKey(value), KEY_FORM);

const keyOptions = options.optionsObject<ServiceKey>(
  { key: keyOption, owner: options.nonEmptyStringOption },
  ['key'],
);

const modelOptions = options.optionsObject<ModelEndpoint>(
  {
    baseUrl: options.urlOption,
    apiKey: options.nonEmptyStringOption,
    model: options.nonEmptyStringOption,
    timeoutMs: options.integerOption(1, 600_000),
    retriesMax: options.integerOption(0, 100),
  },
  ['baseUrl', 'model'],
);

const speechOptions = options.optionsObject<SpeechModel>(
  {
    baseUrl: options.urlOption,
    model: options.nonEmptyStringOption,
    voice: options.nonEmptyStringOption,
    apiKey: options.nonEmptyStringOption,
  },
  ['baseUrl'],
);

/** Schema of the options of `startService`. Seed data has a schema of its own. */
export const serviceOptionsSchema = options.optionsObject<ServiceSetup>({
  host: options.nonEmptyStringOption,
  port: options.portOption,
  dataDir: options.nonEmptyStringOption,
  databaseUrl: options.nonEmptyStringOption,
  clock: options.clockOption,
  seed: options.objectOption,
  onSeedProgress: options.functionOption,
  randomSeed: options.nonEmptyStringOption,
  log: options.logOption,
  apiKeyHeader: options.nonEmptyStringOption,
  keys: options.arrayOption(keyOptions),
  judge: modelOptions,
  userModel: modelOptions,
  speech: speechOptions,
  appUrl: options.urlOption,
  recordCallers: options.booleanOption,
  drainMs: options.integerOption(0, 600_000),
  retentionMs: options.integerOption(RETENTION_MS_MIN, Number.MAX_SAFE_INTEGER),
  kit: options.objectOption,
});
