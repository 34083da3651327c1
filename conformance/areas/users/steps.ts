import { stepsOf } from '../../engine/probe.ts';
import type { UsersRequirementId } from './requirements.ts';

/** The steps with a valid create request, each with the requirement for its success. */
export const validCreateSteps = {
  full: 'USERS-001',
  control: 'USERS-001',
  'to be deleted': 'USERS-001',
  minimal: 'USERS-002',
  'for a session': 'USERS-002',
  'with profile': 'USERS-003',
  'with metadata': 'USERS-004',
  'after refusals': 'USERS-009',
} as const satisfies Readonly<Record<string, UsersRequirementId>>;

/** The steps with a create request to refuse, each with the requirement for its refusal. */
export const refusedCreateSteps = {
  'user_id missing': 'USERS-060',
  'user_id a number': 'USERS-061',
  'user_id null': 'USERS-061',
  'user_id with a hyphen': 'USERS-062',
  'user_id with a space': 'USERS-062',
  'user_id with a dot': 'USERS-062',
  'user_id with a slash': 'USERS-062',
  'user_id with a line break': 'USERS-062',
  'user_id of 65 characters': 'USERS-063',
  'user_id empty': 'USERS-064',
  'body not JSON': 'USERS-065',
  'body empty': 'USERS-065',
  'body an array': 'USERS-065',
  duplicate: 'USERS-066',
} as const satisfies Readonly<Record<string, UsersRequirementId>>;

/** A step with a valid create request. */
export type ValidCreateStep = keyof typeof validCreateSteps;

/** The step of all generated requests. Their properties name the requirements for their success. */
export const GENERATED = 'generated';

/** A step with a create request to refuse. */
export type RefusedCreateStep = keyof typeof refusedCreateSteps;

/** A step with a malformed create request. */
export type MalformedCreateStep = Exclude<RefusedCreateStep, 'duplicate'>;

/** A step with a create request for which the specification defines no response. */
export type OpenCreateStep =
  'created again' | 'wrong key' | 'non-ASCII letters' | 'metadata a string';

/** Any step that creates a user. */
export type CreateStep = ValidCreateStep | typeof GENERATED | RefusedCreateStep | OpenCreateStep;

/** A step with a delete request that succeeds. */
export type ValidDeleteStep = 'delete';

/** A step with a delete request for which the specification defines no response. */
export type OpenDeleteStep = 'left over' | 'deleted again' | 'unknown user' | 'stray';

/** Any step that deletes a user. */
export type DeleteStep = ValidDeleteStep | OpenDeleteStep;

/** Creates a predicate for the create requests of some steps: `isCreateStep('full')(exchange)`. */
export const isCreateStep = stepsOf<CreateStep>('create');

/** Creates a predicate for the delete requests of some steps. */
export const isDeleteStep = stepsOf<DeleteStep>('delete');
