// Generated from tables of options by packaging/generate-options.ts, do not edit.
import type { CallTarget, RunOptions } from '../../src/options/generated/options.ts';
import type { LoadProgress } from '../progress.ts';
import type { LoadReport } from '../../src/contract/index.ts';
import type { LoadShardOptions } from '../schedule/shard-option.ts';

/** Options of `load`. Only `url` is required. */
export interface LoadOptions extends RunOptions {
  /**
   * Traffic: chat, conversation, health, mixed (chat, health, and users), voice, or all (mixed and
   * voice) (default: mixed; chat with `findMax` or `engine` autocannon).
   */
  profile?: 'chat' | 'conversation' | 'health' | 'mixed' | 'voice' | 'all' | undefined;
  /** Requests per second, up to 10000 (default: 100; health: 10). */
  rate?: number | undefined;
  /**
   * Length of the steady state in milliseconds, 1000 or more (default: 300 000; with calls,
   * `findMax`, or the engine `autocannon`: 60 000).
   */
  durationMs?: number | undefined;
  /**
   * Length of the warm-up and the ramp-up together in milliseconds (default: up to 10 000,
   * depending on the duration).
   */
  warmUpMs?: number | undefined;
  /**
   * Searches for the highest rate that meets the targets; with the profile `voice`, for the most
   * concurrent calls (default: false).
   */
  findMax?: boolean | undefined;
  /** Length of one step of `findMax` in milliseconds (default: 20 000). */
  stepMs?: number | undefined;
  /** Simulated users of the profile conversation, 1 to 5000 (default: rate × 1.25). */
  users?: number | undefined;
  /** The messages of each simulated user (default: built-in messages). */
  lines?: readonly (readonly string[])[] | undefined;
  /** Spacing of requests: uniform or poisson (default: uniform). */
  arrivals?: 'uniform' | 'poisson' | undefined;
  /**
   * Load generator: `open` sends requests at scheduled times, and `autocannon` sends as many as the
   * sandbox answers, which measures its rate but no response times (default: `open`).
   */
  engine?: 'open' | 'autocannon' | undefined;
  /** Connections of `engine` autocannon, 1 to 1000 (default: 10). */
  connections?: number | undefined;
  /** Latency percentile that must meet the target, 50 to 99.9 (default: 99). */
  percentile?: number | undefined;
  /** Limits in addition to the targets, such as `chat.p95<800ms`, at most 50. */
  thresholds?: readonly string[] | undefined;
  /**
   * The part of the run to send; `mergeLoadReports` merges the reports of all parts into one with
   * verdicts. All shards need the same other options (default: the whole run).
   */
  shard?: LoadShardOptions | undefined;
  /** An earlier report. The new report then has a `comparison`. */
  compareWith?: LoadReport | undefined;
  /** Reports exit code 0 if the verdict is NOT PROVEN, for short runs (default: false). */
  acceptNotProven?: boolean | undefined;
  /** Concurrent calls of the profiles voice and all, 1 to 1000 (default: 100). */
  calls?: number | undefined;
  /** Calls to place per second, up to 100 (default: 10). */
  callsPerSecond?: number | undefined;
  /**
   * Network from the callers to the sandbox, which loses and delays packets (default: the real
   * network alone).
   */
  network?: 'mobile' | 'train' | 'crowded' | 'narrow' | undefined;
  /** Settings of calls. */
  voice?: CallTarget | undefined;
  /** Called once per second with the progress. */
  onProgress?: ((progress: LoadProgress) => void) | undefined;
}

/** Options of `mergeLoadReports`. */
export interface MergeLoadOptions {
  /** Reports exit code 0 if the verdict is NOT PROVEN, for short runs (default: false). */
  acceptNotProven?: boolean | undefined;
  /** An earlier report. The new report then has a `comparison`. */
  compareWith?: LoadReport | undefined;
}
