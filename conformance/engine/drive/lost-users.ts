import { isObject } from '../../../src/platform/json.ts';
import type { Step } from '../probe.ts';
import { isAccepted, RECREATION, type Exchange } from '../transcript/reading.ts';

/** Remembers the users of a run, because a peer that keeps them in memory loses them in a crash. */
export interface UserMemory {
  /** Notes a user that was created or deleted. */
  note(step: Step, exchange: Exchange): void;
  /** Returns the requests that create the users again. */
  createSteps(): Step[];
  /** Forgets a user whose creation ends the peer. */
  forget(createStep: Step): void;
}

/** Creates a memory without users. */
export function createUserMemory(): UserMemory {
  const steps = new Map<string, Step>();
  return {
    note(step, exchange) {
      if (!isAccepted(exchange)) return;
      if (step.endpoint === 'delete') steps.delete(step.userId ?? '');
      const body = step.body && 'json' in step.body ? step.body.json : undefined;
      const id = isObject(body) ? body['user_id'] : undefined;
      if (step.endpoint !== 'create' || typeof id !== 'string') return;
      steps.set(id, {
        endpoint: 'create',
        step: RECREATION,
        intent: 'open',
        body: { json: body },
      });
    },
    createSteps: () => [...steps.values()],
    forget(createStep) {
      for (const [id, step] of steps) if (step === createStep) steps.delete(id);
    },
  };
}
