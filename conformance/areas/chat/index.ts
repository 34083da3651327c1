import { chatMutants } from './mutants/index.ts';
import { chatVariants } from './variants.ts';
import { defineArea } from '../../engine/area.ts';
import { chatChecks } from './checks.ts';
import { observeChat } from './observed.ts';
import { chatProbes } from './probes.ts';
import { chatRequirements } from './requirements.ts';

/** `POST /v1/chat/completions`. */
export const chat = defineArea({
  name: 'chat',
  endpoints: ['chat'],
  requirements: chatRequirements,
  checks: chatChecks,
  probes: chatProbes,
  observe: observeChat,
  mutants: chatMutants,
  variants: chatVariants,
});
