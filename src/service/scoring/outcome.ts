import type { EvalDefinition } from '../../contract/index.ts';
import type { Outcome } from '../store/store.ts';
import type { Score } from './score.ts';

/** A score as it is kept: with what is said of the eval as it was when it was queued. */
export function outcomeOf(definition: EvalDefinition, { outcome, reasoning }: Score): Outcome {
  return {
    evalId: definition.id,
    evalName: definition.name,
    category: definition.category ?? 'general',
    type: definition.type ?? 'session_level',
    outcome,
    required: definition.required ?? true,
    reasoning,
  };
}
