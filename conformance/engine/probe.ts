import type { Area } from '../../src/contract/index.ts';
import type { ProbeContext } from './probe-context.ts';
import type { RequirementId } from '../areas/index.ts';

/** When a scenario runs: each phase ends before the next begins. */
export type Phase = 'preflight' | 'accepted' | 'refused' | 'after' | 'cleanup' | 'last' | 'end';

/** What a scenario sends to a sandbox that answers at once; 429s come on top. */
export interface Cost {
  /** Requests in all. */
  requests: number;
  /** Chat requests that reach a model. */
  modelCalls: number;
  /** Users created. */
  users: number;
  /** Calls placed; the request of each for its WebSocket is among the requests. */
  calls: number;
}

/** Drives traffic, and nothing else: what it means is for the checks. */
export interface Probe {
  id: string;
  area: Area;
  phase: Phase;
  /** Requirements that must have evidence of it, against a sandbox that has everything. */
  exercises: readonly RequirementId[];
  /** Scenarios on what they leave behind it rests; it comes in a later phase. */
  needs?: readonly string[];
  /** Only an intrusive run drives it. */
  intrusive?: true;
  cost: (prompts: readonly string[]) => Cost;
  run(context: ProbeContext): Promise<void>;
}

/** A cost that does not depend on the prompts. */
export function cost(requests: number, modelCalls = 0, users = 0, calls = 0): Probe['cost'] {
  return () => ({ requests, modelCalls, users, calls });
}
