/** The reference agent: a sandbox that obeys area B to the letter and injects faults on demand. */
export { StartError } from '../src/http-kit/errors.ts';
export type { AgentCalls, AgentControls, AgentFaultStatus, AgentRequest } from './controls.ts';
export type { AgentOptions, VoiceOptions } from './generated/options.ts';
export { readFault } from './faults.ts';
export { findScriptProblem } from './script.ts';
export { startAgent, type RunningAgent } from './start.ts';
export type { TlsOptions } from './tls.ts';
