/** The mutants and legal variants of each kind of peer, which its areas define. */
import type { Suite } from '../engine/area.ts';
import type { Mutant, Variant } from '../engine/mutants/mutant.ts';
import { clientSuite, sandboxSuite, serviceSuite } from './index.ts';
import { wireVariants } from './wire-variants.ts';

const mutantsOf = ({ areas }: Suite): readonly Mutant[] => areas.flatMap(({ mutants }) => mutants);
const variantsOf = ({ areas }: Suite): readonly Variant[] =>
  areas.flatMap(({ variants }) => variants);

/** The mutants of a sandbox. */
export const mutants = mutantsOf(sandboxSuite);

/** The legal variants of a sandbox: odd behavior about which the specification is silent. */
export const variants: readonly Variant[] = [...variantsOf(sandboxSuite), ...wireVariants];

/** The mutants of the service. */
export const serviceMutants = mutantsOf(serviceSuite);

/** The legal variants of the service. */
export const serviceVariants = variantsOf(serviceSuite);

/** The mutants of a client of the service. */
export const clientMutants = mutantsOf(clientSuite);

/** The legal variants of a client of the service. */
export const clientVariants = variantsOf(clientSuite);

/** The mutants of every kind of peer. */
export const allMutants: readonly Mutant[] = [...mutants, ...serviceMutants, ...clientMutants];

/** The legal variants of every kind of peer. */
export const allVariants: readonly Variant[] = [...variants, ...serviceVariants, ...clientVariants];
