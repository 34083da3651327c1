import type { LoadTarget } from '../../src/contract/index.ts';
import { grouped } from './amounts.ts';
import { shareAtLeast, shareAtMost } from './binomial.ts';
import { notTested, rows } from './targets.ts';

/** Judges whether answers went to the sessions that asked: a single one that did not is a fail. */
export function judgeSessions(echoed: number, mixedUp: number): LoadTarget {
  const row = rows.chatSessions;
  const samples = Math.max(echoed, mixedUp);
  if (samples === 0) {
    return notTested(row, 'No answer named its session, which the interface does not ask for.');
  }
  const inPercent = (share: number): number => Math.round(share * 1e6) / 1e4;
  const range: [number, number] = [
    inPercent(1 - shareAtMost(mixedUp, samples)),
    inPercent(1 - shareAtLeast(mixedUp, samples)),
  ];
  return {
    ...row,
    measured: inPercent(1 - mixedUp / samples),
    bound95: range[0],
    range95: range,
    samples,
    verdict: mixedUp > 0 ? 'FAIL' : 'PASS',
    reason:
      mixedUp > 0
        ? `${grouped(mixedUp)} of ${grouped(samples)} answers held what belongs to another session.`
        : `All ${grouped(samples)} answers that name a session name their own.`,
  };
}
