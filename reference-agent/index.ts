/** The reference agent: a sandbox that obeys area B to the letter, with faults on demand. */
export {
  readFault,
  startAgent,
  type AgentOptions,
  type RunningAgent,
  type VoiceOptions,
} from './start.ts';
export { StartError } from './errors.ts';
export { readScript, type Script } from './script.ts';
export type { TlsOptions } from './tls.ts';
