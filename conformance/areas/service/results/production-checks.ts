import { brief, valueAt } from '../../../../src/contract/index.ts';
import type { productionRequirements } from './production-requirements.ts';
import { notJudged, checkEach, type Check } from '../../../engine/checks/check.ts';
import {
  eachItem,
  failingOutcomes,
  failingTotal,
  filtered,
  hasFailed,
  runNamed,
  othersUnseen,
  scoredBy,
  stepsBy,
} from './filter-checks.ts';
import {
  capped,
  defaults,
  envelope,
  newestFirst,
  paged,
  readAnswered,
  windowed,
  wrong,
} from './page-checks.ts';
import {
  conversationIdOf,
  countOf,
  isPage,
  sessionsOf,
  needsControl,
  resultsOf,
  lastOf,
} from '../reading.ts';
import {
  countsFit,
  itemField,
  linkShape,
  noSessions,
  observed,
  outcomesField,
  outcomesListed,
  summaryField,
  tracesAbsent,
  tracesPresent,
} from './session-checks.ts';
import { byTime } from './time-checks.ts';
import { startsWithSpan, turnCount, turnTexts } from './turn-checks.ts';
import { wholeSummaries } from './filter-checks.ts';
import { type Exchange, type Transcript, isAccepted } from '../../../engine/transcript/reading.ts';

const AREA = 'production';

/** Closed conversations that something is to be seen of. */
const closesOf = ({ exchanges }: Transcript): Exchange[] =>
  exchanges.filter(
    (one) =>
      one.endpoint === 'end' &&
      one.probe === 'service/conversations' &&
      one.step !== 'close again' &&
      isAccepted(one) &&
      isAboveNone(valueAt(one.json, '/evaluations_queued')),
  );

const listed = (transcript: Transcript, id: string | undefined) => {
  const page = resultsOf(transcript);
  return page ? sessionsOf(page).find((item) => item['source_session_id'] === id) : undefined;
};

/** Every conversation that was closed is in the page that was read last. */
function appears(): Check {
  return {
    evidence: (transcript) => (resultsOf(transcript) ? closesOf(transcript) : []),
    judge: (evidence, transcript) =>
      evidence
        .filter((one) => !listed(transcript, conversationIdOf(one)))
        .map((one) => {
          const expected = `${brief(conversationIdOf(one))} among the results within 10 s`;
          return { exchange: one.id, pointer: '', expected, received: 'not listed' };
        }),
    unjudged: notJudged('not_observed', 'No evals are configured, so that nothing is scored.'),
  };
}

/** The run under which a session is listed is the one that the close response named. */
function sameRun(): Check {
  return {
    evidence: (transcript) =>
      closesOf(transcript).filter(
        (one) =>
          typeof valueAt(one.json, '/run') === 'string' &&
          typeof listed(transcript, conversationIdOf(one))?.['run'] === 'string',
      ),
    judge: (evidence, transcript) =>
      evidence.flatMap((one) => {
        const run = listed(transcript, conversationIdOf(one))?.['run'];
        if (run === valueAt(one.json, '/run')) return [];
        return [wrong(one, '/run', `${brief(run)}, as its session is listed`)];
      }),
    unjudged: noSessions,
  };
}

const isAboveNone = (total: unknown): boolean => typeof total === 'number' && total > 0;

/** Who has only sessions without outcomes has none to show. */
function scoredAlone(): Check {
  const judged = eachItem(
    AREA,
    (item) => countOf(item, 'total_evaluations') !== undefined,
    (item) =>
      countOf(item, 'total_evaluations') === 0
        ? { place: '/outcome_summary/total_evaluations', expected: 'more than 0' }
        : undefined,
    noSessions,
  );
  const isBare = (one: Exchange): boolean => isPage(AREA)(one) && one.step === 'bare';
  return {
    ...judged,
    evidence: (transcript) => [
      ...new Set([...judged.evidence(transcript), ...transcript.exchanges.filter(isBare)]),
    ],
    judge: (evidence, transcript) => [
      ...judged.judge(evidence, transcript),
      ...evidence
        .filter((one) => isBare(one) && isAboveNone(valueAt(one.json, '/total')))
        .map((one) => wrong(one, '/total', '0')),
    ],
  };
}

function uploadListed(): Check {
  return {
    evidence: (transcript) => {
      const page = lastOf(transcript, AREA, 'whole') ?? resultsOf(transcript);
      return page && lastOf(transcript, 'admin', 'upload') ? [page] : [];
    },
    judge: ([page], transcript) => {
      const id = valueAt(lastOf(transcript, 'admin', 'upload')?.sent, '/session_id');
      if (!page || sessionsOf(page).some((item) => item['source_session_id'] === id)) return [];
      return [wrong(page, '/items', `the transcript ${brief(id)}`, 'not listed')];
    },
    unjudged: needsControl(noSessions),
  };
}

const TOLD_APART = ['agent', 'scenario', 'persona'];

/** The checks of `GET /api/prod-evaluations/sessions/`, one for each requirement. */
export const productionChecks = {
  'SERVICE-070': readAnswered(AREA),
  'SERVICE-071': envelope(AREA),
  'SERVICE-075': defaults(AREA),
  'SERVICE-077': capped(AREA),
  'SERVICE-078': windowed(AREA),
  'SERVICE-080': paged(AREA),
  'SERVICE-081': newestFirst(AREA),
  'SERVICE-082': itemField(AREA, '/url'),
  'SERVICE-083': linkShape(AREA, 'production-eval'),
  'SERVICE-084': itemField(AREA, '/run', '/source_session_id', '/status'),
  'SERVICE-085': sameRun(),
  'SERVICE-087': appears(),
  'SERVICE-088': observed(AREA, '/status', (status) => status === 'completed', '"completed"'),
  'SERVICE-090': itemField(AREA, '/started_at', '/ended_at'),
  'SERVICE-091': startsWithSpan(),
  'SERVICE-092': summaryField(AREA),
  'SERVICE-093': outcomesField(AREA),
  'SERVICE-094': countsFit(AREA),
  'SERVICE-095': outcomesListed(AREA),
  'SERVICE-096': eachItem(
    AREA,
    () => true,
    (item) => {
      const key = TOLD_APART.find((one) => Object.hasOwn(item, one));
      return key === undefined ? undefined : { place: `/${key}`, expected: 'absent' };
    },
    noSessions,
  ),
  'SERVICE-097': tracesAbsent(AREA),
  'SERVICE-098': tracesPresent(AREA, ['session_sequence', 'user_input', 'agent_response']),
  'SERVICE-099': turnCount('json'),
  'SERVICE-100': turnTexts('user_input'),
  'SERVICE-101': turnTexts('agent_response'),
  'SERVICE-102': turnCount('re-sent'),
  'SERVICE-103': turnCount('ignored'),
  'SERVICE-104': turnCount('tools'),
  'SERVICE-107': observed(
    AREA,
    '/eval_outcomes/0/eval_type',
    (type) => type === 'session_level',
    '"session_level"',
  ),
  'SERVICE-108': checkEach(
    (one) => isPage(AREA)(one) && sessionsOf(one).some(allPassed),
    (one) => {
      const item = sessionsOf(one)
        .filter(allPassed)
        .find((passed) => valueAt(passed, '/eval_outcomes/0/outcome') !== 'pass');
      if (!item) return [];
      return [wrong(one, '/items', '"pass"', brief(valueAt(item, '/eval_outcomes/0/outcome')))];
    },
    notJudged('not_observed', 'No session passed every eval.'),
  ),
  'SERVICE-110': filtered(AREA, stepsBy('run'), runNamed),
  'SERVICE-111': filtered(AREA, stepsBy('eval'), scoredBy),
  'SERVICE-112': filtered(AREA, ['failed only'], hasFailed),
  'SERVICE-113': failingOutcomes(AREA),
  'SERVICE-115': wholeSummaries(AREA),
  'SERVICE-116': failingTotal(AREA),
  'SERVICE-117': byTime(AREA, 'started_after'),
  'SERVICE-118': byTime(AREA, 'started_before'),
  'SERVICE-119': scoredAlone(),
  'SERVICE-120': uploadListed(),
  'SERVICE-121': othersUnseen(AREA),
} satisfies Record<keyof typeof productionRequirements, Check>;

function allPassed(item: Parameters<typeof countOf>[0]): boolean {
  const total = countOf(item, 'total_evaluations') ?? 0;
  return total > 0 && countOf(item, 'passed_count') === total;
}
