import type { Variant } from '../../../engine/mutants/mutant.ts';
import { emptyTraceResponse, errorResponse, variant } from '../transforms.ts';
import { onLateConversations } from './mutants.ts';

const unchanged = (): void => {};

/** Legal variants of late spans; the specification does not say whether they are accepted. */
export const lateVariants: readonly Variant[] = [
  variant(
    'late-refused',
    'Refuses spans of a closed conversation.',
    onLateConversations(unchanged, () => Promise.resolve(errorResponse(409))),
  ),
  variant(
    'late-ignored',
    'Accepts spans of a closed conversation but discards them.',
    onLateConversations(unchanged, () => Promise.resolve(emptyTraceResponse)),
  ),
  variant(
    'late-ends-later',
    'Extends a session to its late spans.',
    onLateConversations((session) => {
      session['ended_at'] = '2030-01-01T00:00:00Z';
    }),
  ),
];
