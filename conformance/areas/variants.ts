import { chatVariants } from './chat/variants.ts';
import { healthVariants } from './health/variants.ts';
import type { Variant } from '../engine/mutants/mutant.ts';
import { usersVariants } from './users/variants.ts';
import { voiceVariants } from './voice/variants.ts';
import { wireVariants } from './wire-variants.ts';

/** Everything that is odd and legal; the specification is silent about each. */
export const variants: readonly Variant[] = [
  ...chatVariants,
  ...healthVariants,
  ...usersVariants,
  ...voiceVariants,
  ...wireVariants,
];
