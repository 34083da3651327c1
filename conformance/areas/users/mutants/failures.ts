import type { UsersRequirementId } from '../requirements.ts';
import { errorResponse } from '../../../engine/mutants/combinators.ts';
import {
  createMutantFactory,
  type Mutant,
  type ProxyResult,
  type TransformFactory,
} from '../../../engine/mutants/mutant.ts';

const mutant = createMutantFactory('users');

// Longer than the check waits for a response.
const HANG_MS = 60_000;

/** Counts create requests and fails at some of them. */
const failsAtCreation =
  (failsAt: (creation: number) => boolean, fail: 'with 500' | 'silently' | 'dropped') =>
  (): ReturnType<TransformFactory> => {
    let creations = 0;
    return async (request, forward, clock): Promise<ProxyResult> => {
      if (request.endpoint !== 'create' || !failsAt(++creations)) return forward(request);
      if (fail === 'dropped') return 'dropped';
      if (fail === 'silently') await clock.sleep(HANG_MS);
      return errorResponse(500, 'server_error');
    };
  };

const fails = (
  name: string,
  description: string,
  kills: readonly UsersRequirementId[],
  transform: TransformFactory,
  clockFactor?: number,
): Mutant =>
  mutant(name, description, kills, transform, clockFactor === undefined ? {} : { clockFactor });

/** Mutants that fail depending on the number of create requests before. */
export const userFailureMutants: readonly Mutant[] = [
  fails(
    'second-creation-500',
    'Responds with 500 to the second create request.',
    ['USERS-002', 'USERS-010'],
    failsAtCreation((creation) => creation === 2, 'with 500'),
  ),
  fails(
    'third-creation-500',
    'Responds with 500 to the third create request.',
    ['USERS-004', 'USERS-010'],
    failsAtCreation((creation) => creation === 3, 'with 500'),
  ),
  fails(
    'fourth-creation-dropped',
    'Drops the connection of the fourth create request.',
    ['USERS-003', 'USERS-010'],
    failsAtCreation((creation) => creation === 4, 'dropped'),
  ),
  fails(
    'recreation-500',
    'Responds with 500 to the sixth create request, which creates a deleted user again.',
    ['USERS-010'],
    failsAtCreation((creation) => creation === 6, 'with 500'),
  ),
  fails(
    'every-second-creation-hangs',
    'Never responds to every second create request.',
    ['USERS-002', 'USERS-010'],
    failsAtCreation((creation) => creation % 2 === 0, 'silently'),
    20,
  ),
];
