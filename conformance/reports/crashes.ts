import type { CheckReport } from '../../src/contract/index.ts';
import type { BlockingCause } from '../engine/preflight/blocking-cause.ts';
import type { Crash } from '../engine/transcript/transcript.ts';
import { formatSeconds } from '../../src/report-kit/format.ts';

/** The most crashes to describe, and the most requests to name for each. */
const DESCRIBED_MAX = 3;
const NAMED_MAX = 4;

/**
 * Describes the times when the peer stopped responding, one sentence each. The blocking cause
 * `unreachable` already describes the last one if the peer did not come back.
 */
export function describeCrashes(
  peer: string,
  crashes: readonly Crash[],
  blockedBy: BlockingCause | undefined,
): string[] {
  // The second crash of a request is part of the sentence about the first one.
  const isSecond = ({ culprits: [culprit] }: Crash): boolean => culprit?.repeats !== undefined;
  const isDescribed = ({ cameBack }: Crash): boolean => cameBack || blockedBy?.id !== 'unreachable';
  const shown = crashes.filter((crash) => isDescribed(crash) && !isSecond(crash));
  const sentences = shown.slice(0, DESCRIBED_MAX).map((crash) => describeCrash(peer, crash));
  const more = shown.length - DESCRIBED_MAX;
  if (more <= 0) return sentences;
  return [...sentences, `The ${peer} crashed ${more} more time${more === 1 ? '' : 's'}.`];
}

function describeCrash(peer: string, { downMs, suspects, culprits }: Crash): string {
  const outage = `for ${formatSeconds(downMs, 1)}`;
  if (suspects.length === 0) {
    return `The ${peer} accepted no connections ${outage}, although no request was in flight.`;
  }
  const named = culprits.length > 0 ? culprits : suspects;
  const names = named.slice(0, NAMED_MAX).map(({ id, step }) => `${id} "${step}"`);
  const more = named.length > NAMED_MAX ? ` and ${named.length - NAMED_MAX} more` : '';
  const noun = named.length === 1 ? 'exchange' : 'exchanges';
  const list = `${noun} ${names.join(', ')}${more}`;
  return culprits.length > 0
    ? `The ${peer} crashed in ${list} and accepted no connections ${outage}. The same request crashed it again.`
    : `The ${peer} crashed while ${list} ${named.length === 1 ? 'was' : 'were'} in flight, and accepted no connections ${outage}.`;
}

/** Returns the crashes for programs. */
export function crashRows(
  crashes: readonly Crash[],
  itemOf: (
    exchange: Crash['suspects'][number],
  ) => NonNullable<CheckReport['crashes']>[number]['suspects'][number],
): Pick<CheckReport, 'crashes'> {
  if (crashes.length === 0) return {};
  return {
    crashes: crashes.map(({ downMs, cameBack, suspects, culprits }) => ({
      downMs,
      cameBack,
      suspects: suspects.map(itemOf),
      crashedAgain: culprits.map(({ id }) => id),
    })),
  };
}
