import type { RequirementId } from '../../index.ts';
import { failure } from '../../../engine/mutants/combinators.ts';
import {
  mutantsOf,
  type Mutant,
  type ProxyResult,
  type TransformFactory,
} from '../../../engine/mutants/mutant.ts';

const mutant = mutantsOf('users');

// Longer than the judge waits for an answer.
const HANG_MS = 60_000;

/** A sandbox that counts its creations, and fails at some. */
const counting =
  (failsAt: (creation: number) => boolean, fail: 'with 500' | 'silently' | 'dropped') =>
  (): ReturnType<TransformFactory> => {
    let creations = 0;
    return async (asked, forward, clock): Promise<ProxyResult> => {
      if (asked.endpoint !== 'create' || !failsAt(++creations)) return forward(asked);
      if (fail === 'dropped') return 'dropped';
      if (fail === 'silently') await clock.sleep(HANG_MS);
      return failure(500, 'server_error');
    };
  };

const fails = (
  name: string,
  breaks: string,
  kills: readonly RequirementId[],
  transform: TransformFactory,
  clockFactor?: number,
): Mutant =>
  mutant(name, breaks, kills, transform, clockFactor === undefined ? {} : { clockFactor });

/** Mutants that fail by how many users were created before. */
export const userFailureMutants: readonly Mutant[] = [
  fails(
    'second-creation-500',
    'Fails at the second creation.',
    ['USERS-002', 'USERS-010'],
    counting((creation) => creation === 2, 'with 500'),
  ),
  fails(
    'third-creation-500',
    'Fails at the third creation.',
    ['USERS-004', 'USERS-010'],
    counting((creation) => creation === 3, 'with 500'),
  ),
  fails(
    'fourth-creation-dropped',
    'Drops the connection of the fourth creation.',
    ['USERS-003', 'USERS-010'],
    counting((creation) => creation === 4, 'dropped'),
  ),
  fails(
    'recreation-500',
    'Fails when a deleted user is created again, the sixth creation.',
    ['USERS-010'],
    counting((creation) => creation === 6, 'with 500'),
  ),
  fails(
    'every-second-creation-hangs',
    'Answers no second creation.',
    ['USERS-002', 'USERS-010'],
    counting((creation) => creation % 2 === 0, 'silently'),
    20,
  ),
];
