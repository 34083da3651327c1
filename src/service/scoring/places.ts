import type { EvalDefinition } from '../../contract/index.ts';
import type { Held } from './held-jobs.ts';

/** What waits for others, a model or a thread, and so needs a place. */
const slowKinds: readonly EvalDefinition['kind'][] = ['judge', 'regex'];

/** Whether a job takes up a place while it is scored; all others end as soon as they begin. */
export const isSlow = ({ job }: Held): boolean => slowKinds.includes(job.definition.kind);

/**
 * Whether there is a place for a job beside those that take one up. A session leaves one to others,
 * however many jobs it has and however slow they are.
 */
export function hasPlace({ job }: Held, inPlace: readonly Held[], places: number): boolean {
  if (inPlace.length >= places) return false;
  const { ownerId, sessionId } = job;
  const ofSession = inPlace.filter(
    (other) => other.job.sessionId === sessionId && other.job.ownerId === ownerId,
  );
  return ofSession.length < Math.max(1, places - 1);
}
