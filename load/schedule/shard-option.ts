/** The part of a load test that one of several machines sends, as an option. */
import * as z from 'zod';
import { instantMs } from '../../src/platform/clock.ts';
import { integerOption, optionsObject } from '../../src/platform/options.ts';
import { writtenAs } from '../../src/options/code-form.ts';
import { textMatching } from '../../src/options/values.ts';

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
const SHARDS_MIN = 2;
const SHARDS_MAX = 100;

/** The seed of sharded runs without one, because all shards need the same. */
export const SHARD_SEED = 'sharded';

const START_TIME = 'an ISO 8601 time with a time zone, such as 2026-11-22T23:30:00Z';
const isInstant = (text: string): boolean => instantMs(text) !== undefined;

/** A time with a time zone. */
export const instant = textMatching(isInstant, START_TIME);

const isInRange = ({ index, count }: LoadShardOptions): boolean => index <= count;

const shardObject = optionsObject<LoadShardOptions>(
  {
    index: integerOption(1, SHARDS_MAX),
    count: integerOption(SHARDS_MIN, SHARDS_MAX),
    startAt: z.custom((value) => typeof value === 'string' && isInstant(value), START_TIME),
  },
  ['index', 'count'],
).refine((value) => isInRange(value as LoadShardOptions), {
  error: 'must have an index from 1 to count.',
});

const SHARD = `a part of the run such as 2/5, of ${SHARDS_MIN} to ${SHARDS_MAX}`;

/** The part of a run that one of several machines sends. */
export const shard = writtenAs(
  z
    .string()
    .transform((value, context): LoadShardOptions => {
      const [, index, count] = /^(\d{1,3})\/(\d{1,3})$/.exec(value) ?? [];
      const parsed = { index: Number(index), count: Number(count) };
      const isCount = parsed.count >= SHARDS_MIN && parsed.count <= SHARDS_MAX;
      if (parsed.index >= 1 && isInRange(parsed) && isCount) return parsed;
      context.addIssue({
        code: 'custom',
        message: `must be ${SHARD}, got ${JSON.stringify(value)}.`,
      });
      return z.NEVER;
    })
    .describe(SHARD),
  { schema: shardObject, type: 'LoadShardOptions' },
);
