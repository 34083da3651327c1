/** How the shard of a load test fits its other options. */
import type { LoadOptions, LoadShardOptions, ShardOptions } from '../load/index.ts';
import { placesCalls, profileNames, SHARD_SEED } from '../load/options.ts';
import type { SpellOption } from '../src/options/table.ts';
import { instantMs } from '../src/platform/clock.ts';
import { randomSeed } from '../src/platform/random.ts';

const START_AHEAD_MS_MAX = 3_600_000;

/** Returns the seed of a run without one. All shards of a run need the same. */
export const defaultLoadSeed = (shard: LoadShardOptions | undefined): string =>
  shard ? SHARD_SEED : randomSeed();

/** Returns the shard with its start as Unix milliseconds. */
export function resolveShard({ index, count, startAt }: LoadShardOptions): ShardOptions {
  const startAtMs = startAt === undefined ? undefined : instantMs(startAt);
  return { index, count, startAtMs };
}

/** The options that decide whether a run can be sharded. */
interface ShardedOptions {
  shard?: LoadShardOptions | undefined;
  profile?: LoadOptions['profile'];
  findMax?: boolean | undefined;
  compareWith?: object | undefined;
}

/** Returns why a run can't be sharded, as a sentence; undefined if it can, or is not sharded. */
export function findShardConflict(
  options: ShardedOptions,
  spell: SpellOption<keyof ShardedOptions>,
  nowMs: number,
): string | undefined {
  const { shard, profile, findMax, compareWith } = options;
  if (!shard) return undefined;
  const name = spell('shard');
  if (findMax) {
    return `${spell('findMax')} and ${name} can't be combined: the search chooses each rate from the results of all requests. Search from one machine.`;
  }
  if (placesCalls(profile)) {
    const others = profileNames.filter((each) => !placesCalls(each)).join(', ');
    return `${name} can't be combined with ${spell('profile')} ${profile}: shards send requests, not calls. Place all calls from one machine. Profiles for shards: ${others}.`;
  }
  if (compareWith) {
    return `${name} and ${spell('compareWith')} can't be combined: only the merged report has verdicts. Compare it instead.`;
  }
  // A start time that has passed is not a conflict: the report says that the shard was late.
  const { startAtMs = nowMs } = resolveShard(shard);
  return startAtMs > nowMs + START_AHEAD_MS_MAX
    ? `The start time ${shard.startAt ?? ''} is more than an hour away. Choose an earlier one.`
    : undefined;
}
