import type { LoadTarget } from '../../src/contract/index.ts';
import type { Random } from '../../src/platform/random.ts';
import { grouped, percent } from './amounts.ts';
import type { Block } from './bootstrap.ts';
import { judgeShare } from './share.ts';
import { rows } from './targets.ts';

/** Judges the share of requests that ended well, of all kinds that were sent. */
export function judgeAvailability(
  blocks: readonly Block[],
  kinds: string,
  chance: Random,
): LoadTarget {
  const row = rows.availability;
  const allowed = 1 - row.target / 100;
  const { verdict, samples, hits, low, high, because } = judgeShare(blocks, allowed, chance);
  const range: [number, number] = [inPercent(1 - high), inPercent(1 - low)];
  const said =
    samples === 0
      ? 'No request came to an end.'
      : `${grouped(samples - hits)} of ${grouped(samples)} requests ended well (${percent(1 - hits / samples)} %)${kinds === '' ? '' : `; ${kinds}`}.`;
  return {
    ...row,
    measured: samples === 0 ? null : inPercent(1 - hits / samples),
    bound95: samples === 0 ? null : range[0],
    range95: samples === 0 ? [null, null] : range,
    samples,
    verdict,
    reason: because === undefined ? said : `${said} Not proven: ${because}.`,
  };
}

const inPercent = (share: number): number => Math.round(share * 1e6) / 1e4;
