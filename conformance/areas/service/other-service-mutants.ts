import type { RequirementId } from '../../engine/requirement.ts';
import { onAccepted } from '../../engine/mutants/combinators.ts';
import { mutantsOf, type Mutant, type TransformFactory } from '../../engine/mutants/mutant.ts';
import { matches } from './results/match-mutants.ts';
import { NOT_FOUND, withoutControl } from './other-services.ts';

const mutant = mutantsOf('service');
// The judge waits for what does not come.
const slow = { clockFactor: 20 };

const strange = (
  name: string,
  breaks: string,
  kills: RequirementId | readonly RequirementId[],
  change: TransformFactory,
): Mutant => mutant(`strange-${name}`, breaks, kills, withoutControl(NOT_FOUND, change), slow);

/** A rule that is broken where the run has set nothing up as well. */
function strangely(name: string, kills: RequirementId): Mutant[] {
  return matches('simulations').flatMap(([row, breaks, , change]) =>
    row === name ? [strange(name, breaks, kills, change)] : [],
  );
}

const queues = (count: number): TransformFactory =>
  onAccepted('end', (body) => {
    if (body['already_closed'] === undefined) body['evaluations_queued'] = count;
  });

/** Mutants of a service that has no control API: nobody knows what it has, but what it shows. */
export const strangerMutants: readonly Mutant[] = [
  strange('queues-less', 'Says that it queues less than it does.', 'SERVICE-122', queues(1)),
  strange('queues-more', 'Says that it queues more than it does.', 'SERVICE-122', queues(3)),
  ...strangely('agent-elsewhere', 'SERVICE-146'),
  ...strangely('after-by-end', 'SERVICE-153'),
  ...strangely('before-by-end', 'SERVICE-154'),
];
