/** All that the judge is proven by. */
import { chatMutants } from './chat/mutants/index.ts';
import { healthMutants } from './health/mutants.ts';
import type { Mutant } from '../engine/mutants/mutant.ts';
import { usersMutants } from './users/mutants/index.ts';
import { voiceMutants } from './voice/mutants/index.ts';

export { deadPeers, serviceDeadPeers, type DeadPeer } from '../proof/dead-peers.ts';
export { voiceDeadPeers } from '../proof/voice-dead-peers.ts';
export { serviceMutants } from './service/mutants.ts';
export { serviceVariants } from './service/variants.ts';
export { variants } from './variants.ts';
export type { Mutant, Variant } from '../engine/mutants/mutant.ts';

/** Every mutant. */
export const mutants: readonly Mutant[] = [
  ...chatMutants,
  ...healthMutants,
  ...usersMutants,
  ...voiceMutants,
];
