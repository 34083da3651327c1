/** Which conversation the spans of a request join, and what late spans change (spec 1, 3.1). */
import {
  formatValue,
  resolvePointer,
  SERVICE_API_KEY_HEADER,
} from '../../../../src/contract/index.ts';
import {
  type Check,
  explainNoValidResponse,
  type Finding,
  outcomeFinding,
} from '../../../engine/checks/check.ts';
import { isSuccess, withBody, type When } from '../../../engine/mutants/combinators.ts';
import type {
  Forward,
  ProxyRequest,
  ProxyResponse,
  Transform,
  TransformFactory,
} from '../../../engine/mutants/mutant.ts';
import type { Subject } from '../../../engine/requirement.ts';
import {
  type Exchange,
  isAccepted,
  isRateLimited,
  toPrintable,
  type Transcript,
} from '../../../engine/transcript/reading.ts';
import { requirePlainRight, wrongValue, needsScores } from '../findings.ts';
import { objectsAt, type ResultsObject } from '../results-api.ts';
import { hasTurnPerSpan, onceTurnsAreListed } from '../results/sent-turns.ts';
import {
  conversationIdOf,
  findTraces,
  isStep,
  lastAccepted,
  sentSpans,
  sessionsById,
  summaryNumber,
  turnsOf,
} from '../transcript.ts';
import {
  conversationIdIn,
  conversationIdsIn,
  doubleOutcomes,
  emptyTraceResponse,
  refusal,
  fastClock,
  hasValidKey,
  onSessions,
} from '../transforms.ts';

const unchanged = (): void => {};

export const conversationSpans: Subject = {
  requirements: {
    'SERVICE-060': {
      rule: 'Spans that arrive after a conversation was scored do not change its outcomes.',
      section: '3.1',
      statements: ['1.10', '3.1.6', '3.1.12'],
      reason: 'A build that read the results could no longer rely on them.',
      probes: ['service/late'],
      check: keepsScores(),
      mutants: {
        'late-spans-scored': {
          description: 'Scores a conversation again when spans arrive late.',
          transform: onLateConversations(doubleOutcomes),
        },
        'late-spans-unscored': {
          description: 'Moves a conversation to another run when spans arrive late.',
          transform: onLateConversations((session) => {
            session['run'] = 'Live traces, reopened';
          }),
        },
      },
      // The specification does not say whether late spans are accepted.
      legal: {
        'late-refused': {
          description: 'Refuses spans of a closed conversation.',
          transform: onLateConversations(unchanged, () => Promise.resolve(refusal(409))),
        },
        'late-ignored': {
          description: 'Accepts spans of a closed conversation but discards them.',
          transform: onLateConversations(unchanged, () => Promise.resolve(emptyTraceResponse)),
        },
        'late-ends-later': {
          description: 'Extends a session to its late spans.',
          transform: onLateConversations((session) => {
            session['ended_at'] = '2030-01-01T00:00:00Z';
          }),
        },
      },
    },
    'SERVICE-182': {
      rule: 'A span that arrives again after its conversation was closed adds no turn.',
      section: '3.1',
      statements: ['3.1.2', '3.1.3'],
      reason: 'An exporter that retries late would show turns twice.',
      observability: 'provoked',
      probes: ['service/late'],
      check: requirePlainRight([hasTurnPerSpan('re-sent')], keepsTurnsOnce()),
      mutants: {
        'late-span-doubled': {
          description: 'Adds a turn for a span that arrives again after the close.',
          transform: onLateConversations((session) => {
            const turns = objectsAt(session, 'traces');
            const [first] = turns;
            if (first) session['traces'] = [...turns, { ...first, session_sequence: 99 }];
          }),
        },
      },
    },
    'SERVICE-061': {
      rule: 'Spans of two conversations in one trace request create two conversations.',
      statements: ['1.8', '3.1.1'],
      reason: 'Exporters batch spans of all conversations; their turns would be mixed or lost.',
      probes: ['service/late'],
      check: onceTurnsAreListed(separatesConversations()),
      mutants: {
        'two-ids-as-one': {
          description: 'Assigns all spans of a request to one conversation.',
          transform: rewriteSharedRequest((body, first, second) => body.replaceAll(second, first)),
          ...fastClock,
        },
        'two-ids-first-alone': {
          description: 'Keeps only the first conversation of a request.',
          transform: rewriteSharedRequest((body, first) => keepSpansOf(body, first)),
          ...fastClock,
        },
        'two-ids-refused': {
          description: 'Refuses a request with two conversations.',
          transform: () => async (request, forward) =>
            idsOfTraces(request).length > 1 ? refusal(400) : forward(request),
          ...fastClock,
        },
      },
    },
  },
};

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
    unjudged: needsScores('No scored conversation received late spans.'),
  };
}

/** Requires different turns in a session whose first span arrived again. */
function keepsTurnsOnce(): Check {
  const textsOf = (session: ResultsObject): string[] =>
    turnsOf(session).map((turn) =>
      JSON.stringify([
        resolvePointer(turn, '/user_input'),
        resolvePointer(turn, '/agent_response'),
      ]),
    );
  const find = (transcript: Transcript): { page: Exchange; session: ResultsObject } | undefined => {
    const page = lastAccepted(transcript, 'production', 'after late spans');
    const late = findTraces(transcript, 'late again');
    const [session] = sessionsById(
      page,
      late && isAccepted(late) ? conversationIdOf(late) : undefined,
    );
    return page && session && turnsOf(session).length > 0 ? { page, session } : undefined;
  };
  return {
    evidence: (transcript) => {
      const found = find(transcript);
      return found ? [found.page] : [];
    },
    judge: (_evidence, transcript) => {
      const found = find(transcript);
      if (!found) return [];
      const texts = textsOf(found.session);
      const different = new Set(texts).size;
      if (texts.length === different) return [];
      const expected = `${different} different turns in ${formatValue(found.session['source_session_id'])}`;
      return [wrongValue(found.page, '/items', expected, String(texts.length))];
    },
    unjudged: needsScores('No scored conversation received late spans.'),
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
        const hint =
          'Read gen_ai.conversation.id of each span, not only of the first one. X-Conversation-Id is the id of the spans that lack it.';
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

/** Matches trace requests that the service would accept. */
const isValidTraces: When = (request) =>
  request.endpoint === 'traces' &&
  /^application\/(json|x-protobuf)$/.test(request.headers['content-type'] ?? '') &&
  request.body.includes('gen_ai.conversation.id') &&
  hasValidKey(request);

type LateResponder = (request: ProxyRequest, forward: Forward) => Promise<ProxyResponse>;

/** Edits the sessions of conversations that continue after they were closed. */
function onLateConversations(
  edit: (session: ResultsObject) => void,
  respond: LateResponder = (request, forward) => forward(request),
): TransformFactory {
  return (): Transform => {
    const closed = new Set<string>();
    const late = new Set<string>();
    const editLate = onSessions('production', (session) => {
      if (late.has(String(session['source_session_id']))) edit(session);
    })();
    return async (request, forward, clock) => {
      const sentIds = isValidTraces(request) ? conversationIdsIn(request.body) : [];
      // Another owner may have a conversation with the same id.
      const key = request.headers[SERVICE_API_KEY_HEADER] ?? '';
      if (sentIds.some((id) => closed.has(`${key} ${id}`))) {
        for (const id of sentIds) late.add(id);
        return respond(request, forward);
      }
      const response = await editLate(request, forward, clock);
      const id = conversationIdIn(request.path);
      if (request.endpoint === 'end' && id && response !== 'dropped' && isSuccess(response)) {
        closed.add(`${key} ${id}`);
      }
      return response;
    };
  };
}

const idsOfTraces = ({ endpoint, body }: ProxyRequest): string[] =>
  endpoint === 'traces' ? conversationIdsIn(body) : [];

/** Rewrites trace requests that contain two conversations. */
function rewriteSharedRequest(
  rewrite: (body: string, first: string, second: string) => string,
): TransformFactory {
  return () => async (request, forward) => {
    const [first, second] = idsOfTraces(request);
    if (first === undefined || second === undefined) return forward(request);
    return forward(withBody(request, rewrite(request.body, first, second)));
  };
}

/** Removes the spans of other conversations from a trace request. */
function keepSpansOf(body: string, conversationId: string): string {
  const request = JSON.parse(body) as {
    resourceSpans: { scopeSpans: { spans: unknown[] }[] }[];
  };
  for (const { scopeSpans } of request.resourceSpans) {
    for (const scope of scopeSpans) {
      scope.spans = scope.spans.filter((span) => JSON.stringify(span).includes(conversationId));
    }
  }
  return JSON.stringify(request);
}
