/** The options of a load test that is distributed over several machines. */
import type { ShardOptions } from '../../load/index.ts';
import * as schemas from '../platform/options.ts';
import * as z from 'zod';
import { instantMs } from '../platform/clock.ts';

/** The part of a load test that one of several machines sends. */
export interface LoadShardOptions {
  /** The number of this shard, from 1 to `count`. */
  index: number;
  /** The number of shards, from 2 to 100. */
  count: number;
  /**
   * When the ramp-up starts, as ISO 8601 with a time zone, such as `2026-11-22T23:30:00Z` (default: as
   * soon as the warm-up ends).
   */
  startAt?: string | undefined;
}

/** One shard alone would judge nothing. */
export const SHARDS_MIN = 2;
export const SHARDS_MAX = 100;
/** The seed of sharded runs without one, because all shards need the same. */
export const SHARD_SEED = 'sharded';
const START_AHEAD_MS_MAX = 3_600_000;

export const START_TIME = 'an ISO 8601 time with a time zone, such as 2026-11-22T23:30:00Z';

/** Schema of the option `shard`. */
export const shardOption = schemas
  .optionsObject<LoadShardOptions>(
    {
      index: schemas.integerOption(1, SHARDS_MAX),
      count: schemas.integerOption(SHARDS_MIN, SHARDS_MAX),
      startAt: z.custom(
        (value) => typeof value === 'string' && instantMs(value) !== undefined,
        START_TIME,
      ),
    },
    ['index', 'count'],
  )
  .refine((value) => isInRange(value as LoadShardOptions), {
    error: 'must have an index from 1 to count.',
  });

/** Returns whether the number of a shard is not larger than the number of shards. */
export const isInRange = ({ index, count }: LoadShardOptions): boolean => index <= count;

/** Returns the shard with its start as Unix milliseconds. */
export function resolveShard({ index, count, startAt }: LoadShardOptions): ShardOptions {
  const startAtMs = startAt === undefined ? undefined : instantMs(startAt);
  return { index, count, startAtMs };
}

/** The options that decide whether a run can be sharded. */
interface ShardedOptions {
  shard?: LoadShardOptions | undefined;
  profile?: string | undefined;
  findMax?: boolean | undefined;
  compareWith?: object | undefined;
}

/** Returns why a run can't be sharded, as a sentence; undefined if it can, or is not sharded. */
export function findShardConflict(
  options: ShardedOptions,
  show: (name: keyof ShardedOptions) => string,
  nowMs: number,
): string | undefined {
  const { shard, profile, findMax, compareWith } = options;
  if (!shard) return undefined;
  const name = show('shard');
  if (findMax) {
    return `${show('findMax')} and ${name} can't be combined: the search chooses each rate from the results of all requests. Search from one machine.`;
  }
  if (profile === 'voice' || profile === 'all') {
    return `${name} can't be combined with ${show('profile')} ${profile}: shards send requests, not calls. Place all calls from one machine, and use ${show('profile')} chat, conversation, health, or mixed for the shards.`;
  }
  if (compareWith) {
    return `${name} and ${show('compareWith')} can't be combined: only the merged report has verdicts. Compare it instead.`;
  }
  // A start time that has passed is no conflict: the report says that the shard was late.
  const { startAtMs = nowMs } = resolveShard(shard);
  return startAtMs > nowMs + START_AHEAD_MS_MAX
    ? `The start time ${shard.startAt ?? ''} is more than an hour away. Choose an earlier one.`
    : undefined;
}
