import { resolvePointer } from '../../../src/contract/index.ts';
import { type Exchange, isAccepted } from '../../engine/transcript/reading.ts';
import type { OwnerName, ServiceProbeContext } from './context.ts';
import { sessionsIn } from './results-api.ts';
import { createResultsStep, runPeriod } from './requests.ts';
import type { ResultsStep } from './steps.ts';

/** A session that should appear in the production results. */
export interface ExpectedSession {
  /** The conversation id. */
  id: string;
  /** The number of evaluations that it must have. */
  evaluations: number;
}

/** Returns the session to expect after a close; an empty list if the close queued no evals. */
export function expectedSessions(id: string, close: Exchange): ExpectedSession[] {
  const queued = isAccepted(close) && resolvePointer(close.json, '/evaluations_queued');
  return typeof queued === 'number' && queued > 0 ? [{ id, evaluations: queued }] : [];
}

const FIRST_PAUSE_MS = 250;
const PAUSE_MS_MAX = 1_000;
const PAUSE_GROWTH = 1.3;
const TOTAL_WAIT_MS_MAX = 10_000;
const POLLS_MAX = 40;

/** Polls the production results until every expected session is scored, for at most 10 s. */
export async function waitUntilScored(
  context: ServiceProbeContext,
  expected: readonly ExpectedSession[],
  step: ResultsStep = 'results',
  owner: OwnerName = 'main',
): Promise<void> {
  const startMs = context.service.monotonicMs();
  const query = { ...runPeriod(context.service), include_traces: 'true', limit: '500' };
  let pauseMs = FIRST_PAUSE_MS;
  for (let polls = 0; polls < POLLS_MAX; polls++) {
    const page = await context.send(createResultsStep(context, 'production', step, query, owner));
    const isLate = context.service.monotonicMs() - startMs > TOTAL_WAIT_MS_MAX;
    if (!page || !isAccepted(page) || isLate || hasAllScores(page, expected)) return;
    await context.service.pause(pauseMs);
    pauseMs = Math.min(PAUSE_MS_MAX, pauseMs * PAUSE_GROWTH);
  }
}

function hasAllScores({ json }: Exchange, expected: readonly ExpectedSession[]): boolean {
  const counts = new Map(
    sessionsIn(json).map((session) => [
      session['source_session_id'],
      resolvePointer(session, '/outcome_summary/total_evaluations'),
    ]),
  );
  return expected.every(({ id, evaluations }) => {
    const count = counts.get(id);
    return typeof count === 'number' && count >= evaluations;
  });
}
