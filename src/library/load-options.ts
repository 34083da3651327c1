import * as z from 'zod';
import type { LoadProgress } from '../../load/index.ts';
import type { Arrivals, LoadEngineName, LoadProfileName, LoadReport } from '../contract/index.ts';
import * as schemas from '../platform/options.ts';
import type { CallTarget } from './call-target.ts';
import { shardOption, type LoadShardOptions } from './load-shard.ts';
import {
  callTargetOption,
  positiveNumberOption,
  wholeLoadReportOption,
  runOptions,
  type RunOptions,
} from './options.ts';

/** Options of `load`. Only `url` is required. */
export interface LoadOptions extends RunOptions {
  /**
   * Traffic: `chat`, `conversation`, `health`, `voice`, `mixed` (chat, health, and users), or `all`
   * (default: `mixed`; with `findMax` or the engine `autocannon`: `chat`).
   */
  profile?: LoadProfileName | undefined;
  /** Requests per second, up to 10 000 (default: 100; health: 10). */
  rate?: number | undefined;
  /**
   * Length of the steady state in milliseconds, 1000 or more (default: 300 000; with calls, `findMax`,
   * or the engine `autocannon`: 60 000).
   */
  durationMs?: number | undefined;
  /** Length of the warm-up and the ramp-up together in milliseconds (default: up to 10 000, depending on the duration). */
  warmUpMs?: number | undefined;
  /** Searches for the highest rate that meets the targets (default: false). */
  findMax?: boolean | undefined;
  /** Length of one step of `findMax` in milliseconds (default: 20 000). */
  stepMs?: number | undefined;
  /** Simulated users of the profile `conversation`, 1 to 5000 (default: rate × 1.25). */
  users?: number | undefined;
  /** The messages of each simulated user (default: built-in messages). */
  lines?: readonly (readonly string[])[] | undefined;
  /** Spacing of requests (default: `uniform`). */
  arrivals?: Arrivals | undefined;
  /**
   * Load generator: `open` sends requests at scheduled times, and `autocannon` sends as many as the
   * sandbox answers, which measures its rate but no response times (default: `open`).
   */
  engine?: LoadEngineName | undefined;
  /** Connections of the engine `autocannon`, 1 to 1000 (default: 10). */
  connections?: number | undefined;
  /** Latency percentile that must meet the target, 50 to 99.9 (default: 99). */
  percentile?: number | undefined;
  /** Limits in addition to the targets, such as `chat.p95<800ms`, at most 50. */
  thresholds?: readonly string[] | undefined;
  /** Concurrent calls of the profiles `voice` and `all`, 1 to 1000 (default: 100). */
  calls?: number | undefined;
  /** Calls to place per second, up to 100 (default: 10). */
  callsPerSecond?: number | undefined;
  /** Settings of calls. */
  voice?: CallTarget | undefined;
  /**
   * The part of the run to send, with which `mergeLoadReports` merges the report into one with verdicts.
   * All shards need the same other options (default: the whole run).
   */
  shard?: LoadShardOptions | undefined;
  /** Reports exit code 0 if the verdict is NOT PROVEN, for short runs (default: false). */
  acceptNotProven?: boolean | undefined;
  /** An earlier report. The new report then has a `comparison`. */
  compareWith?: LoadReport | undefined;
  /** Called once per second with the progress. */
  onProgress?: ((progress: LoadProgress) => void) | undefined;
}

const DAY_MS = 86_400_000;
const LINES_MAX = 10_000;
const THRESHOLDS_MAX = 50;
const PERCENTILE = 'a percentile from 50 to 99.9';

/** Schema of the options of `load`. */
export const loadOptionsSchema = schemas.optionsObject<LoadOptions>(
  {
    ...runOptions,
    profile: schemas.enumOption(['chat', 'conversation', 'health', 'mixed', 'voice', 'all']),
    rate: positiveNumberOption(10_000),
    durationMs: schemas.integerOption(1_000, DAY_MS),
    warmUpMs: schemas.integerOption(0, DAY_MS),
    findMax: schemas.booleanOption,
    stepMs: schemas.integerOption(1_000, DAY_MS),
    users: schemas.integerOption(1, 5_000),
    lines: z
      .array(
        z
          .array(schemas.nonEmptyStringOption, 'an array of texts')
          .min(1, 'an array of at least one text'),
        'an array',
      )
      .min(1, 'an array of at least one user')
      .max(LINES_MAX, `an array of at most ${LINES_MAX} users`),
    arrivals: schemas.enumOption(['uniform', 'poisson']),
    engine: schemas.enumOption(['open', 'autocannon']),
    connections: schemas.integerOption(1, 1_000),
    percentile: z.number(PERCENTILE).min(50, PERCENTILE).max(99.9, PERCENTILE),
    thresholds: z
      .array(schemas.nonEmptyStringOption, 'an array of texts')
      .max(THRESHOLDS_MAX, `an array of at most ${THRESHOLDS_MAX} texts`),
    calls: schemas.integerOption(1, 1_000),
    callsPerSecond: positiveNumberOption(100),
    voice: callTargetOption,
    shard: shardOption,
    acceptNotProven: schemas.booleanOption,
    compareWith: wholeLoadReportOption,
    onProgress: schemas.functionOption,
  },
  ['url'],
);
