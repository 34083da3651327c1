/** What the early end of a run of requests means for its report. */
import type { LoadBlocker, LoadPlan } from '../../src/contract/index.ts';
import { formatCount } from '../../src/report-kit/format.ts';
import type { RequestRun } from '../phases/request-run.ts';

/** Returns why nothing is judged, although requests were sent; undefined if something is. */
export const findLateBlocker = ({ earlyEnd }: RequestRun): LoadBlocker | undefined =>
  earlyEnd?.kind === 'unauthorized' ? keyRevoked(earlyEnd.detail) : undefined;

/** Returns why the measurements, which are judged, end before the planned end. */
export function describeAbort({ earlyEnd }: RequestRun, plan: LoadPlan): string | undefined {
  if (earlyEnd?.kind === 'down') {
    return `The run was aborted because the sandbox is down: ${earlyEnd.detail}.`;
  }
  if (earlyEnd?.kind !== 'full') return undefined;
  return `The run ended after ${formatCount(plan.requests, 'request')}, the most that it can record.`;
}

/** Returns why an early end makes a run invalid. */
export function listStopReasons({ earlyEnd, ranMs }: RequestRun, plan: LoadPlan): string[] {
  if (!earlyEnd) return [];
  switch (earlyEnd.kind) {
    case 'interrupted':
      return [describeInterruption(ranMs, plan)];
    case 'unauthorized':
      return [keyRevoked(earlyEnd.detail).message];
    case 'unreadable':
      return [UNREADABLE];
    case 'down':
    case 'full':
      return [];
  }
}

/** Says when a run was interrupted. */
export const describeInterruption = (ranMs: number, { windowMs }: LoadPlan): string =>
  ranMs === 0
    ? 'The run was interrupted before the steady state, the only phase that is measured.'
    : `The run was interrupted after ${Math.floor(ranMs / 1000)} s of ${windowMs / 1000} s.`;

/** autocannon keeps the parser of a connection after a response that did not end. */
const UNREADABLE =
  "The sandbox did not complete a response, and autocannon can't read the connection after that. Use --engine open, which counts such responses.";

const keyRevoked = (detail: string): LoadBlocker => ({
  message: `The sandbox refused the key during the run (${detail}).`,
  cure: 'Use a key that stays valid for the whole run, and check what revokes it under load.',
});
