/**
 * The mutants and legal variants of all areas. They are loaded on demand, because a check of a peer
 * needs none of them.
 */
import type { Mutant, Variant } from '../engine/mutants/mutant.ts';
import { clientMutants } from './client/mutants.ts';
import { clientVariants } from './client/variants.ts';
import { chat } from './chat/index.ts';
import { health } from './health/index.ts';
import { service } from './service/index.ts';
import { users } from './users/index.ts';
import { voice } from './voice/index.ts';
import { wireVariants } from './wire-variants.ts';

export { clientMutants, clientVariants };

/** The mutants and the legal variants of the service. */
export const { mutants: serviceMutants, variants: serviceVariants } = service;

/** The mutants of a sandbox. */
export const mutants: readonly Mutant[] = [
  ...chat.mutants,
  ...health.mutants,
  ...users.mutants,
  ...voice.mutants,
];

/** The legal variants of a sandbox: odd behavior about which the specification is silent. */
export const variants: readonly Variant[] = [
  ...chat.variants,
  ...health.variants,
  ...users.variants,
  ...voice.variants,
  ...wireVariants,
];

/** The mutants of every kind of peer. */
export const allMutants: readonly Mutant[] = [...mutants, ...serviceMutants, ...clientMutants];

/** The legal variants of every kind of peer. */
export const allVariants: readonly Variant[] = [...variants, ...serviceVariants, ...clientVariants];
