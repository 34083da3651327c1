/** Rounds in which a process is killed at a named point, and how often each was reached. */
import { parseArgs } from 'node:util';
import type { Test } from 'tap';
import { randomSeed, seededRandom, type Random } from '../../../src/platform/random.ts';
import type { ProcessOptions } from '../commands/command-process.ts';
import { atNight } from '../nightly.ts';
import { CRASH_PASS, CRASH_POINT, CRASH_PRELOAD, type CrashPoint } from './crash-points.ts';

/** CRASH_SEED determines the points, their passes, and what clients send. A failure prints it. */
export const { CRASH_SEED = randomSeed() } = process.env;

/** One round. */
export interface CrashRound {
  number: number;
  chance: Random;
  point: string;
  /** Starts a process that is killed at the point. */
  options: ProcessOptions & { env: Record<string, string> };
  /** Counts the round under its point, and whether the point was reached. */
  record: (isReached: boolean) => void;
}

/** Returns `--rounds` of the command line, or else the number for this kind of run. */
export function countRounds(night: number, push: number): number {
  const { values } = parseArgs({ options: { rounds: { type: 'string' } }, strict: false });
  return typeof values.rounds === 'string' ? Number(values.rounds) : atNight(night, push);
}

/** Runs rounds over all points in turn, each at a random pass, and comments the number of kills. */
export async function runRounds(
  t: Test,
  count: number,
  points: Readonly<Record<string, CrashPoint>>,
  run: (round: CrashRound) => Promise<void>,
): Promise<void> {
  const chance = seededRandom(CRASH_SEED).fork(t.name);
  const names = Object.keys(points);
  const first = chance.integer(0, names.length - 1);
  const kills: Record<string, number> = {};
  const missed: Record<string, number> = {};
  t.comment(`CRASH_SEED=${CRASH_SEED}`);
  for (let number = 0; number < count; number += 1) {
    const point = names[(first + number) % names.length] ?? '';
    const roundChance = chance.fork(`round ${number}`);
    const passNumber = roundChance.integer(1, points[point]?.passesMax ?? 1);
    const env = { [CRASH_POINT]: point, [CRASH_PASS]: String(passNumber) };
    await run({
      number,
      point,
      chance: roundChance,
      options: { preload: CRASH_PRELOAD, env },
      record(isReached) {
        const counts = isReached ? kills : missed;
        counts[point] = (counts[point] ?? 0) + 1;
      },
    });
    if (!t.passing()) {
      t.comment(`stopped after round ${number}: ${point}, pass ${passNumber}`);
      break;
    }
  }
  t.comment(`${count} rounds, kills by point: `, kills, ', not reached: ', missed);
  t.ok(Object.keys(kills).length > 0 || count === 0, 'some rounds reached their point');
}
