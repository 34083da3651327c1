/** Conversations that closed without evals (spec 2.2, 3.1, 4.4). */
import { SERVICE_API_KEY_HEADER } from '../../../../src/contract/index.ts';
import type { Check } from '../../../engine/checks/check.ts';
import { editBody } from '../../../engine/mutants/combinators.ts';
import type { TransformFactory } from '../../../engine/mutants/mutant.ts';
import type { Subject } from '../../../engine/requirement.ts';
import type { Exchange } from '../../../engine/transcript/reading.ts';
import { requireControlApi, requirePlainRight, wrongValue } from '../findings.ts';
import type { ResultsObject } from '../results-api.ts';
import { checkSessions } from '../results/evidence.ts';
import { isResultsPage, isStep, summaryNumber, totalOf } from '../transcript.ts';
import { closesUnscored, conversationIdIn } from '../transforms.ts';
import { lists, notClosed } from './evidence.ts';

export const unscored: Subject = {
  requirements: {
    'SERVICE-052': {
      rule: 'A conversation that closed without configured evals stays unscored, even when it is closed again later.',
      section: '3.1',
      statements: ['2.2.6', '3.1.21', '4.4.14'],
      reason: 'Scoring a backlog costs model calls, so a person must request it.',
      observability: 'provoked',
      check: requirePlainRight(
        [hasOutcomes()],
        lists('bare', 'bare', false, requireControlApi(notClosed)),
      ),
      mutants: {
        'backlog-scored': {
          description: 'Scores unscored conversations without a request.',
          transform: onUnscoredOwners((page, id) => {
            Object.assign(page, { items: [createSession(id)], total: 1 });
          }),
          alsoKills: ['SERVICE-119'],
        },
      },
    },
    'SERVICE-119': {
      rule: 'The production results neither list nor count sessions without outcomes.',
      statements: ['4.4.14', '4.4.15'],
      reason: 'Unscored conversations would look as if they had been evaluated.',
      check: listsOnlyScored(),
      mutants: {
        'unscored-counted': {
          description: 'Counts sessions without outcomes.',
          transform: onUnscoredOwners((page) => {
            page['total'] = 1;
          }),
        },
      },
    },
  },
};

/** Requires outcomes in every session. */
export function hasOutcomes(): Check {
  return checkSessions(
    'production',
    (session) => summaryNumber(session, 'total_evaluations') !== undefined,
    (session) =>
      summaryNumber(session, 'total_evaluations') === 0
        ? { pointer: '/outcome_summary/total_evaluations', expected: 'more than 0' }
        : undefined,
  );
}

/** Requires outcomes in every session, and a total of 0 for an owner without scored sessions. */
function listsOnlyScored(): Check {
  const check = hasOutcomes();
  const hasTotal = (page: Exchange): boolean => {
    const total = totalOf(page);
    return typeof total === 'number' && total > 0;
  };
  const isUnscoredOwner = (page: Exchange): boolean =>
    isResultsPage('production')(page) && isStep(page, 'production', 'bare');
  return {
    ...check,
    evidence: (transcript) => [
      ...new Set([...check.evidence(transcript), ...transcript.exchanges.filter(isUnscoredOwner)]),
    ],
    judge: (evidence, transcript) => [
      ...check.judge(evidence, transcript),
      ...evidence
        .filter((page) => isUnscoredOwner(page) && hasTotal(page))
        .map((page) => wrongValue(page, '/total', '0')),
    ],
  };
}

/** Edits empty production pages of owners that closed a conversation without evals. */
function onUnscoredOwners(
  edit: (page: ResultsObject, conversationId: string) => void,
): TransformFactory {
  return () => {
    const unscoredByKey = new Map<string, string>();
    return async (request, forward) => {
      const key = request.headers[SERVICE_API_KEY_HEADER] ?? '';
      const response = await forward(request);
      if (request.endpoint === 'end' && closesUnscored(response)) {
        unscoredByKey.set(key, conversationIdIn(request.path) ?? '');
      }
      const id = unscoredByKey.get(key);
      if (request.endpoint !== 'production' || id === undefined) return response;
      // Once the run has requested scoring, the page is no longer empty.
      if (!/"total":0\b/.test(response.body)) return response;
      return editBody(response, request, (page) => edit(page, id));
    };
  };
}

const createSession = (conversationId: string): ResultsObject => ({
  url: 'http://127.0.0.1/production-eval/run?sessionId=session',
  run: 'Live traces',
  source_session_id: conversationId,
  status: 'completed',
  started_at: '2026-01-01T00:00:00Z',
  ended_at: '2026-01-01T00:00:00Z',
  outcome_summary: { total_evaluations: 1, passed_count: 1, failed_count: 0, pass_rate: 1 },
  eval_outcomes: [
    {
      eval_name: 'Any',
      eval_category: '',
      eval_type: 'session_level',
      outcome: 'pass',
      reasoning: '',
    },
  ],
});
