import type { conversationRequirements } from './requirements.ts';
import { requireControlApi, wrongValue } from '../findings.ts';
import type { ResultsObject } from '../results-api.ts';
import { isStep, type TracesStep } from '../steps.ts';
import {
  conversationIdOf,
  findSession,
  isConversationAccepted,
  lastAccepted,
  sentSpans,
  sessionsById,
  sessionsOf,
  summaryNumber,
  turnsOf,
} from '../transcript.ts';
import {
  type Check,
  explainNoValidResponse,
  type Finding,
  outcomeFinding,
  unjudgedAs,
} from '../../../engine/checks/check.ts';
import { requirePlainAccepted } from '../../../engine/checks/responses.ts';
import {
  type Exchange,
  isAccepted,
  isRateLimited,
  PREFLIGHT,
  toPrintable,
  type Transcript,
} from '../../../engine/transcript/reading.ts';
import { formatValue, resolvePointer } from '../../../../src/contract/index.ts';
import { isObject } from '../../../../src/platform/json.ts';

const findTraces = ({ exchanges }: Transcript, step: TracesStep): Exchange | undefined =>
  exchanges.find((exchange) => isStep(exchange, 'traces', step) && !isRateLimited(exchange));

/** Returns the scores of a session as text. Late spans may change its turns and its end time. */
function describeScores(session: ResultsObject | undefined): string {
  const outcomes = session?.['eval_outcomes'];
  const verdicts = (Array.isArray(outcomes) ? outcomes : [])
    .map((outcome) => {
      const [name, verdict] = [
        resolvePointer(outcome, '/eval_name'),
        resolvePointer(outcome, '/outcome'),
      ];
      return `${formatValue(name)} ${formatValue(verdict)}`;
    })
    .sort();
  return JSON.stringify([session?.['run'], session?.['outcome_summary'], verdicts]);
}

/** Requires the scores of a session to stay the same after late spans. */
function keepsScores(): Check {
  const pagesOf = (transcript: Transcript) => ({
    before: lastAccepted(transcript, 'production', 'before late spans'),
    after: lastAccepted(transcript, 'production', 'after late spans'),
  });
  const idOf = (transcript: Transcript): string | undefined => {
    const late = findTraces(transcript, 'late again');
    return late?.response && conversationIdOf(late);
  };
  return {
    evidence(transcript) {
      const { before, after } = pagesOf(transcript);
      const [session, ...others] = sessionsById(before, idOf(transcript));
      const close = lastAccepted(transcript, 'end', 'close late');
      const queued = resolvePointer(close?.json, '/evaluations_queued');
      // If an eval was still running, the session changes for that reason.
      const isComplete =
        session !== undefined && summaryNumber(session, 'total_evaluations') === queued;
      return after && isComplete && others.length === 0 ? [after] : [];
    },
    judge: ([after], transcript) => {
      if (!after) return [];
      const id = idOf(transcript);
      const [before] = sessionsById(pagesOf(transcript).before, id);
      const sessions = sessionsById(after, id);
      const scores = describeScores(sessions[0]);
      if (sessions.length === 1 && scores === describeScores(before)) return [];
      const expected = `the scores of ${formatValue(id)} before: ${toPrintable(describeScores(before), 200)}`;
      const received =
        sessions.length === 1 ? toPrintable(scores, 200) : `${sessions.length} sessions`;
      return [wrongValue(after, '/items', expected, received)];
    },
    unjudged: unjudgedAs('not_observed', 'No scored conversation received late spans.'),
  };
}

/** Requires two conversations for spans with two conversation ids in one request. */
function separatesConversations(): Check {
  return {
    evidence(transcript) {
      const request = findTraces(transcript, 'two ids');
      const isPlainClosed = lastAccepted(transcript, 'end', 'close late') !== undefined;
      if (!request || !isPlainClosed) return [];
      const closes = transcript.exchanges.filter(
        (exchange) =>
          isStep(exchange, 'end', 'close first of two', 'close second of two') &&
          !isRateLimited(exchange),
      );
      return isAccepted(request) ? [request, ...closes] : [request];
    },
    judge([request, ...closes], transcript) {
      if (!request) return [];
      if (!isAccepted(request)) {
        return [outcomeFinding(request, 'a 2xx response to spans of two conversations')];
      }
      const unknown = closes.find((close) => !isAccepted(close));
      if (unknown) {
        const expected = `a 2xx response, because exchange ${request.id} sent its spans`;
        const hint = 'Read the conversation id of each span, not only of the first one.';
        return [outcomeFinding(unknown, expected, hint)];
      }
      return closes.flatMap((close) => findWrongTurns(close, request, transcript));
    },
    unjudged: explainNoValidResponse('traces'),
  };
}

/** Finds a session whose number of turns differs from the number of its spans. */
function findWrongTurns(close: Exchange, request: Exchange, transcript: Transcript): Finding[] {
  const id = conversationIdOf(close);
  const page = lastAccepted(transcript, 'production', 'before late spans');
  const [session] = sessionsById(page, id);
  if (!page || !session || !Array.isArray(session['traces'])) return [];
  const spans = sentSpans(request).filter(
    ({ attributes }) => attributes['gen_ai.conversation.id'] === id,
  );
  const turns = turnsOf(session).length;
  if (turns === spans.length) return [];
  const expected = `${spans.length} turn in ${formatValue(id)}, one per span of the conversation`;
  return [wrongValue(page, '/items', expected, `${turns}`)];
}

const backlogSteps = ['backlog old', 'backlog'] as const;

/** Returns the sessions of each conversation in the backlog, in the order of their closes. */
function readBacklog(transcript: Transcript): {
  page: Exchange | undefined;
  sessions: ResultsObject[][];
} {
  const page = lastAccepted(transcript, 'production', 'backlog');
  const sessions = backlogSteps.map((step) => {
    const request = findTraces(transcript, step);
    return sessionsById(page, request && conversationIdOf(request));
  });
  return { page, sessions };
}

const isScoringRequested = (transcript: Transcript): boolean =>
  transcript.exchanges.some((exchange) => isStep(exchange, 'admin', 'score backlog')) &&
  backlogSteps.every((step) => lastAccepted(transcript, 'end', `close ${step}`));

/** If regular conversations are not listed under their ids, that is the cause. */
const areOthersListed = (transcript: Transcript): boolean =>
  findSession(transcript, 'old') !== undefined && findSession(transcript, 'json') !== undefined;

const noBacklog = requireControlApi(
  unjudgedAs('not_observed', 'The run has no backlog of unscored conversations.'),
);

/** Requires all evals for each conversation of the backlog, in the run of its date. */
function scoresBacklogByDate(): Check {
  return {
    evidence(transcript) {
      const { page } = readBacklog(transcript);
      return page && isScoringRequested(transcript) && areOthersListed(transcript) ? [page] : [];
    },
    judge([page], transcript) {
      if (!page) return [];
      const { sessions } = readBacklog(transcript);
      const seed = transcript.exchanges.find(({ step }) => step === 'evals for backlog')?.sent;
      const evals = resolvePointer(seed, '/settings/evals');
      const evalCount = Array.isArray(evals) ? evals.length : 0;
      const counts = sessions.map((ofConversation) =>
        ofConversation.map((session) => summaryNumber(session, 'total_evaluations') ?? 'no'),
      );
      if (counts.some(({ length }) => length !== 1)) {
        const listed = counts.map(({ length }) => length).join(' and ');
        return [wrongValue(page, '/items', 'each conversation of the backlog once', listed)];
      }
      if (counts.some(([count]) => typeof count === 'number' && count !== evalCount)) {
        const expected = `${evalCount} evaluations each`;
        return [wrongValue(page, '/items', expected, counts.flat().join(' and '))];
      }
      const runs = sessions.map(([session]) => session?.['run']);
      const daysDiffer =
        findSession(transcript, 'old')?.['run'] !== findSession(transcript, 'json')?.['run'];
      if (!daysDiffer || typeof runs[0] !== 'string' || runs[0] !== runs[1]) return [];
      return [wrongValue(page, '/items', 'a different run for each day', formatValue(runs))];
    },
    unjudged: noBacklog,
  };
}

/** Requires a refusal to score the backlog without evals. */
function refusesWithoutEvals(): Check {
  return {
    evidence: ({ exchanges }) =>
      exchanges.filter((exchange) => isStep(exchange, 'admin', 'score no evals')),
    judge: (evidence) =>
      evidence
        .filter(isAccepted)
        .map((exchange) =>
          outcomeFinding(exchange, 'a refusal that asks to configure evals first'),
        ),
    unjudged: noBacklog,
  };
}

/** Requires turns in the sessions of the backlog. */
function keepsTurns(): Check {
  const singleSessions = (transcript: Transcript): ResultsObject[] =>
    readBacklog(transcript).sessions.flatMap((sessions) => (sessions.length === 1 ? sessions : []));
  return {
    evidence(transcript) {
      const { page } = readBacklog(transcript);
      const hasTraces = singleSessions(transcript).some(({ traces }) => Array.isArray(traces));
      return page && hasTraces ? [page] : [];
    },
    judge: ([page], transcript) =>
      page && singleSessions(transcript).some((session) => turnsOf(session).length === 0)
        ? [wrongValue(page, '/items', 'the turns that were sent before the close', 'none')]
        : [],
    unjudged: noBacklog,
  };
}

type IdName = 'case' | 'other case' | 'reserved' | 'slash';

const isPlainTraces = (exchange: Exchange): boolean => isStep(exchange, 'traces', 'json');
const isPlainClose = (exchange: Exchange): boolean => isStep(exchange, 'end', 'close json');

const isFirstClose = (exchange: Exchange): boolean =>
  isAccepted(exchange) && isObject(exchange.json) && exchange.json['already_closed'] !== true;

/** Judges unusual ids only if a conversation with a plain id was accepted and closed. */
function closesById(names: readonly IdName[], hint: string): Check {
  const closeSteps = names.map((name) => `close ${name}` as const);
  const check: Check = {
    evidence: ({ exchanges }) =>
      exchanges.filter(
        (exchange) =>
          !isRateLimited(exchange) &&
          (isStep(exchange, 'traces', ...names) || isStep(exchange, 'end', ...closeSteps)),
      ),
    judge(evidence, transcript) {
      const refused = evidence.find(
        (exchange) => exchange.endpoint === 'traces' && !isAccepted(exchange),
      );
      if (refused) return [outcomeFinding(refused, 'a 2xx response')];
      const closes = evidence.filter(({ endpoint }) => endpoint === 'end');
      const findings = closes.flatMap((close) => findWrongClose(close, transcript, hint));
      return findings.length > 0 ? findings : findUnlisted(closes, transcript);
    },
    unjudged: explainNoValidResponse('end'),
  };
  return requirePlainAccepted(
    isPlainTraces,
    isAccepted,
    requirePlainAccepted(isPlainClose, isFirstClose, check),
  );
}

function findWrongClose(close: Exchange, transcript: Transcript, hint: string): Finding[] {
  const id = conversationIdOf(close);
  if (!isConversationAccepted(id, transcript)) return [];
  if (!isAccepted(close) || !isObject(close.json)) {
    return [outcomeFinding(close, `a 2xx response, because ${formatValue(id)} was sent`, hint)];
  }
  if (close.json['already_closed'] === true) {
    const expected = 'absent or false, because it is the first close';
    return [{ ...wrongValue(close, '/already_closed', expected), hint }];
  }
  if (!returnsPlainId(transcript) || close.json['conversation_id'] === id) return [];
  return [{ ...wrongValue(close, '/conversation_id', formatValue(id)), hint }];
}

/** If even a plain id is returned wrongly, another requirement reports it. */
function returnsPlainId({ exchanges }: Transcript): boolean {
  const plain = exchanges.find(isPlainClose);
  return !plain || resolvePointer(plain.json, '/conversation_id') === conversationIdOf(plain);
}

/** Finds scored conversations that are not listed under their id although others of the probe are. */
function findUnlisted(closes: readonly Exchange[], transcript: Transcript): Finding[] {
  const page = lastAccepted(transcript, 'production', 'ids');
  if (!page) return [];
  const listed = new Set(sessionsOf(page).map((session) => session['source_session_id']));
  const isListed = (close: Exchange): boolean => listed.has(conversationIdOf(close));
  const isScored = ({ json }: Exchange): boolean => {
    const queued = resolvePointer(json, '/evaluations_queued');
    // An object with a field `valueOf` or `toString` can't be converted to a number.
    return typeof queued === 'number' && queued > 0;
  };
  const allCloses = transcript.exchanges.filter(
    (exchange) =>
      exchange.probe === page.probe && exchange.endpoint === 'end' && isAccepted(exchange),
  );
  if (!allCloses.some(isListed)) return [];
  return closes
    .filter((close) => isScored(close) && !isListed(close))
    .map((close) =>
      wrongValue(
        page,
        '/items',
        `${formatValue(conversationIdOf(close))} listed by its id`,
        'not listed',
      ),
    );
}

/** If unknown conversations can be closed or plain ones can't, other requirements report it. */
function isCloseBroken({ exchanges }: Transcript): boolean {
  const plain = exchanges.filter(isPlainClose);
  const unknown = exchanges.find(
    ({ endpoint, probe }) => endpoint === 'end' && probe === PREFLIGHT,
  );
  return (
    (unknown !== undefined && isAccepted(unknown)) ||
    (plain.length > 0 && !plain.some(isFirstClose))
  );
}

/** Requires that another owner cannot close a conversation. */
function closesOnlyForOwner(): Check {
  const findOwnClose = ({ exchanges }: Transcript): Exchange | undefined =>
    exchanges.find((exchange) => isStep(exchange, 'end', 'close own') && isAccepted(exchange));
  return {
    evidence: (transcript) =>
      findOwnClose(transcript) && !isCloseBroken(transcript)
        ? transcript.exchanges.filter(
            (exchange) =>
              isStep(exchange, 'end', 'close of another') &&
              exchange.response &&
              !isRateLimited(exchange),
          )
        : [],
    judge: (evidence, transcript) =>
      evidence.flatMap((foreignClose) => {
        if (isAccepted(foreignClose)) {
          const expected = '404, because the conversation belongs to another owner';
          return [outcomeFinding(foreignClose, expected)];
        }
        const ownClose = findOwnClose(transcript);
        const expected = 'absent or false, because only its own key can close it';
        return ownClose && resolvePointer(ownClose.json, '/already_closed') === true
          ? [wrongValue(ownClose, '/already_closed', expected)]
          : [];
      }),
    unjudged: requireControlApi(
      unjudgedAs('not_observed', 'No owner tried to close a conversation of another owner.'),
    ),
  };
}

/** The checks of conversation ids, their owners, late spans, and the backlog. */
export const conversationChecks = {
  'SERVICE-060': keepsScores(),
  'SERVICE-061': separatesConversations(),
  'SERVICE-062': scoresBacklogByDate(),
  'SERVICE-063': refusesWithoutEvals(),
  'SERVICE-064': keepsTurns(),
  'SERVICE-065': closesById(
    ['case', 'other case'],
    'Compare ids byte by byte. Some databases ignore case when they compare text.',
  ),
  'SERVICE-066': closesById(
    ['reserved', 'slash'],
    'Split the path at its slashes before you decode the id, and decode it only once.',
  ),
  'SERVICE-067': closesOnlyForOwner(),
} satisfies Record<keyof typeof conversationRequirements, Check>;
