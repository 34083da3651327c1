/**
 * The mutants and legal variants of all areas. They are loaded on demand, because a check of a peer
 * needs none of them.
 */
import type { Mutant, Variant } from '../engine/mutants/mutant.ts';
import { client } from './client/index.ts';
import { chatMutants } from './chat/mutants/index.ts';
import { chatVariants } from './chat/variants.ts';
import { healthMutants } from './health/mutants.ts';
import { healthVariants } from './health/variants.ts';
import { serviceMutants, serviceVariants } from './service/mutants.ts';
import { users } from './users/index.ts';
import { voiceMutants } from './voice/mutants/index.ts';
import { voiceVariants } from './voice/variants.ts';
import { wireVariants } from './wire-variants.ts';

export { serviceMutants, serviceVariants };

/** The faulty clients. Each is the reference client with one fault. */
export const clientMutants = client.mutants;

/** Unusual but legal clients. */
export const clientVariants = client.variants;

/** The mutants of a sandbox. */
export const mutants: readonly Mutant[] = [
  ...chatMutants,
  ...healthMutants,
  ...users.mutants,
  ...voiceMutants,
];

/** The legal variants of a sandbox: odd behavior about which the specification is silent. */
export const variants: readonly Variant[] = [
  ...chatVariants,
  ...healthVariants,
  ...users.variants,
  ...voiceVariants,
  ...wireVariants,
];

/** The mutants of every kind of peer. */
export const allMutants: readonly Mutant[] = [...mutants, ...serviceMutants, ...clientMutants];

/** The legal variants of every kind of peer. */
export const allVariants: readonly Variant[] = [...variants, ...serviceVariants, ...clientVariants];
