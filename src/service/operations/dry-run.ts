import { formatValue, type EvalDefinition } from '../../contract/index.ts';
import type { Clock } from '../../platform/clock.ts';
import { errorOrigin } from '../../platform/error-origin.ts';
import type { Log } from '../../platform/log.ts';
import { RequestError } from '../requests/errors.ts';
import type { ScoredSession } from '../sessions/scored-session.ts';
import { findScorable, holdScorable } from '../sessions/transcripts.ts';
import type { Outcome, Store } from '../store/store.ts';

/** The score of an eval, before it is stored with a session. */
type DryRunScore = Pick<Outcome, 'outcome' | 'reasoning'>;

/** Scores a session with an eval. Rejects with the reason of the signal when it aborts. */
export type ScoreEval = (
  definition: EvalDefinition,
  session: ScoredSession,
  signal: AbortSignal,
) => Promise<DryRunScore>;

export interface DryRunOptions {
  store: Store;
  scoreEval: ScoreEval;
  /** Limits the scoring in real time, even if the service clock was moved. */
  machineClock: Clock;
  log: Log;
}

/** The result of an eval for a conversation. Nothing was stored. */
export interface DryRun extends DryRunScore {
  session: ScoredSession;
}

/**
 * Scores a stored session or conversation with an eval that need not be stored, and stores nothing.
 * @throws RequestError `not_found`, or `busy` when too many dry runs are in progress.
 */
export type RunDry = (
  ownerId: string,
  definition: EvalDefinition,
  conversationId: string,
) => Promise<DryRun>;

/** Longer than the judge waits for one response; a person waits for the page. */
const DRY_RUN_MS_MAX = 55_000;

/** Each dry run of kind `judge` is a model call. */
const DRY_RUNS_MAX = 4;

/** Creates the function that runs evals without storing anything. */
export function createDryRun({ store, scoreEval, machineClock, log }: DryRunOptions): RunDry {
  let running = 0;
  const score = async (
    definition: EvalDefinition,
    session: ScoredSession,
  ): Promise<DryRunScore> => {
    using deadline = machineClock.deadline(DRY_RUN_MS_MAX);
    const late = Promise.withResolvers<DryRunScore>();
    deadline.signal.addEventListener('abort', () =>
      late.resolve({
        outcome: 'error',
        reasoning: `The dry run was stopped after ${DRY_RUN_MS_MAX / 1000} s. Try it again later.`,
      }),
    );
    try {
      // Ends with the time limit, even if the scoring ignores it.
      return await Promise.race([late.promise, scoreEval(definition, session, deadline.signal)]);
    } catch (error) {
      const origin = errorOrigin(error);
      log.warn('dry_run_failed', { eval: definition.id, ...origin });
      const reasoning = `Scoring failed (${origin.error}). This is a bug in the service.`;
      return { outcome: 'error', reasoning };
    }
  };
  return async (ownerId, definition, conversationId) => {
    if (running >= DRY_RUNS_MAX) {
      const message = `${DRY_RUNS_MAX} dry runs are in progress. Try it again when they have ended.`;
      throw new RequestError('busy', message);
    }
    running += 1;
    try {
      using _held = await holdScorable(store, ownerId, conversationId);
      const session = await findScorable(store, ownerId, conversationId);
      if (!session) {
        throw new RequestError('not_found', await explainMissing(store, ownerId, conversationId));
      }
      return { ...(await score(definition, session)), session };
    } finally {
      running -= 1;
    }
  };
}

async function explainMissing(
  { sessions, conversations }: Store,
  ownerId: string,
  id: string,
): Promise<string> {
  const known = (await sessions.find(ownerId, id)) ?? (await conversations.find(ownerId, id));
  return known
    ? `The spans of ${formatValue(id)} were removed because of their age, so evals can't score it.`
    : `There is no session or conversation ${formatValue(id)}.`;
}
