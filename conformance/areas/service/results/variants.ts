import { resolvePointer } from '../../../../src/contract/index.ts';
import { chain, replaceParts } from '../../../engine/mutants/combinators.ts';
import type { TransformFactory, Variant } from '../../../engine/mutants/mutant.ts';
import { objectsAt, queryParameter, type ResultsObject } from '../results-api.ts';
import {
  conversationIdIn,
  fastClock,
  hasQuery,
  onPages,
  onSessions,
  variant,
} from '../transforms.ts';
import { keepFirstOutcome, onLink, onSummary } from './mutants/sessions.ts';

function rewriteTimes(rewrite: (time: string) => string): (session: ResultsObject) => void {
  return (session) => {
    for (const key of ['started_at', 'ended_at']) session[key] = rewrite(String(session[key]));
  };
}

const rewriteAllTimes = (rewrite: (time: string) => string): TransformFactory =>
  chain(
    onSessions('production', rewriteTimes(rewrite)),
    onSessions('simulations', rewriteTimes(rewrite)),
  );

/**
 * Removes the first of several outcomes from a single session that passed every eval. The run filters by
 * the name of the second one.
 */
const loseOneOutcome: TransformFactory = () => {
  let chosenId: unknown;
  return onSessions('production', (session) => {
    const { source_session_id: id } = session;
    const hasPassed = resolvePointer(session, '/outcome_summary/failed_count') === 0;
    const outcomes = objectsAt(session, 'eval_outcomes');
    const isLive = conversationIdIn(String(id)) !== undefined;
    if (hasPassed && isLive && outcomes.length > 1) chosenId ??= id;
    if (id !== chosenId || id === undefined) return;
    session['eval_outcomes'] = outcomes.toReversed();
    keepFirstOutcome(session);
  })();
};

const roundRate = onSummary((summary) => {
  summary['pass_rate'] = Math.round(Number(summary['pass_rate']) * 10) / 10;
});

const useHashRoutes = onLink((url) => url.replace('/production-eval', '/#/production-eval'));

/** Legal variants of the results. */
export const resultsVariants: readonly Variant[] = [
  variant(
    'reads-206',
    'Returns results with 206.',
    replaceParts(
      ({ endpoint }) => endpoint === 'production' || endpoint === 'simulations',
      { status: 206 },
      ({ status }) => status === 200,
    ),
  ),
  variant(
    'limit-echo-501',
    'Echoes the requested limit even if it is over the cap.',
    onPages(
      'production',
      (page, { path }) => {
        page['limit'] = Number(queryParameter(path, 'limit'));
      },
      hasQuery('limit'),
    ),
  ),
  variant(
    'zone-offset',
    'Returns times with an offset instead of Z.',
    onSessions(
      'production',
      rewriteTimes((time) => time.replace('Z', '+00:00')),
    ),
  ),
  variant(
    'times-in-seconds',
    'Truncates times to seconds.',
    rewriteAllTimes((time) => time.replace(/\.\d+/, '')),
  ),
  variant(
    'times-in-microseconds',
    'Returns times in microseconds.',
    rewriteAllTimes((time) => time.replace('Z', '000Z')),
  ),
  variant(
    'times-without-zone',
    'Returns UTC times without a zone.',
    rewriteAllTimes((time) => time.replace('Z', '')),
  ),
  variant(
    'outcome-passed',
    'Uses success and failed as outcomes.',
    onSessions('production', (session) => {
      for (const outcome of objectsAt(session, 'eval_outcomes')) {
        outcome['outcome'] = `${String(outcome['outcome'])}ed`.replace('passed', 'success');
      }
    }),
  ),
  variant(
    'eval-narrows',
    'Lists only the outcomes that match the eval filter.',
    onSessions(
      'production',
      (session, { path }) => {
        const name = (queryParameter(path, 'eval') ?? '').toLowerCase();
        session['eval_outcomes'] = objectsAt(session, 'eval_outcomes').filter((outcome) =>
          String(outcome['eval_name']).toLowerCase().includes(name),
        );
      },
      hasQuery('eval'),
    ),
  ),
  variant(
    'eval-without-outcome',
    'Lacks the outcome of one eval that failed to run.',
    loseOneOutcome,
    fastClock,
  ),
  variant(
    'status-other',
    'Uses done as the status of sessions.',
    onSessions('production', (session) => {
      session['status'] = 'done';
    }),
  ),
  variant(
    'extra-session-fields',
    'Adds unspecified fields to sessions.',
    onSessions('simulations', (session) => {
      session['id'] = 7;
      session['simulation_id'] = null;
    }),
  ),
  variant(
    'turn-nulls',
    'Returns null as user_reason and numbers turns from 0.',
    onSessions('simulations', (session) => {
      for (const [index, turn] of objectsAt(session, 'traces').entries()) {
        Object.assign(turn, { session_sequence: index, user_reason: null });
      }
    }),
  ),
  variant(
    'written-otherwise',
    'Rounds rates to one decimal, lists the last turn first, and links to hash routes.',
    chain(
      onSessions('simulations', roundRate),
      onSessions('production', (session) => {
        roundRate(session);
        useHashRoutes(session);
        if (Array.isArray(session['traces'])) {
          session['traces'] = objectsAt(session, 'traces').reverse();
        }
      }),
    ),
  ),
];
