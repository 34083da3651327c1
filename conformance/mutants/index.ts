/** All that the judge is proven by. */
import { chatMutants } from './chat.ts';
import { healthMutants } from './health.ts';
import type { Mutant } from './mutant.ts';
import { usersMutants } from './users.ts';
import { voiceMutants } from './voice.ts';

export { deadPeers, serviceDeadPeers, type DeadPeer } from './dead-peers.ts';
export { voiceDeadPeers } from './voice-dead-peers.ts';
export { serviceMutants } from './service.ts';
export { serviceVariants } from './service-variants.ts';
export { variants } from './variants.ts';
export type { Mutant, Variant } from './mutant.ts';

/** Every mutant. */
export const mutants: readonly Mutant[] = [
  ...chatMutants,
  ...healthMutants,
  ...usersMutants,
  ...voiceMutants,
];
