/** The targets of a run, judged or not. */
import type { LoadProfileName, LoadTarget } from '../../src/contract/index.ts';
import type { Random } from '../../src/platform/random.ts';
import { CLOSED_LOOP_LIMIT, isClosedLoop } from '../closed-loop.ts';
import { sendsRequests, sourcesOf } from '../profiles/profiles.ts';
import type { RequestMeasurements } from './measurements.ts';
import { notTested } from './target.ts';
import { targets, type Target } from './targets.ts';
import type { CallMeasurements } from './voice.ts';

/** Judges the targets for requests; the others are not tested. */
export function judgeRequests(run: RequestMeasurements, random: Random): LoadTarget[] {
  const { plan } = run;
  return targets.map((target): LoadTarget => {
    const { row } = target;
    const isIncluded = isTargetOf(target, plan.profile);
    if (target.source === 'voice' || !isIncluded) return leaveUntested(target);
    if (target.needsSchedule && isClosedLoop(plan)) return notTested(row, CLOSED_LOOP_LIMIT);
    return target.judge(row, run, random.fork(row.id)) ?? leaveUntested(target);
  });
}

/** Judges the targets for calls. */
export const judgeCalls = (calls: CallMeasurements, random: Random): LoadTarget[] =>
  targets.flatMap((target) =>
    target.source === 'voice' ? (target.judge(target.row, calls, random) ?? []) : [],
  );

/** Returns the targets of a run that could not start: INVALID RUN for those of its profile. */
export const listBlockedTargets = (profile: LoadProfileName, reason: string): LoadTarget[] =>
  targets.map((target): LoadTarget =>
    isTargetOf(target, profile)
      ? { ...notTested(target.row, reason), verdict: 'INVALID RUN' }
      : leaveUntested(target),
  );

/** Returns the targets of a run before any is judged. */
export const listUntestedTargets = (): LoadTarget[] => targets.map(leaveUntested);

const isTargetOf = ({ source }: Target, profile: LoadProfileName): boolean =>
  source === 'requests' ? sendsRequests(profile) : sourcesOf(profile).includes(source);

/** Returns a target that a run does not test. */
const leaveUntested = ({ row, source }: Target): LoadTarget =>
  notTested(
    row,
    source === 'requests'
      ? 'This profile sends no requests.'
      : `This profile does not test ${source}.`,
  );
