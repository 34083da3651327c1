import {
  isAccepted,
  jsonResponse,
  replaceParts,
  type When,
} from '../../../engine/mutants/combinators.ts';
import type {
  Forward,
  Mutant,
  ProxyRequest,
  ProxyResponse,
  Transform,
  TransformFactory,
} from '../../../engine/mutants/mutant.ts';
import type { ResultsObject } from '../results-api.ts';
import {
  closesUnscored,
  conversationIdIn,
  conversationIdsIn,
  doubleOutcomes,
  errorResponse,
  fastClock,
  hasValidKey,
  mutant,
  onSessions,
  withBody,
} from '../transforms.ts';

/** Matches trace requests that the service would accept. */
const isValidTraces: When = (request) =>
  request.endpoint === 'traces' &&
  /^application\/(json|x-protobuf)$/.test(request.headers['content-type'] ?? '') &&
  request.body.includes('gen_ai.conversation.id') &&
  hasValidKey(request);

type LateResponder = (request: ProxyRequest, forward: Forward) => Promise<ProxyResponse>;

/** Edits the sessions of conversations that continue after they were closed. */
export function onLateConversations(
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
      if (sentIds.some((id) => closed.has(id))) {
        for (const id of sentIds) late.add(id);
        return respond(request, forward);
      }
      const response = await editLate(request, forward, clock);
      const id = conversationIdIn(request.path);
      if (request.endpoint === 'end' && id && response !== 'dropped' && isAccepted(response)) {
        closed.add(id);
      }
      return response;
    };
  };
}

const idsOfTraces = ({ endpoint, body }: ProxyRequest): string[] =>
  endpoint === 'traces' ? conversationIdsIn(body) : [];

/** Rewrites trace requests that contain two conversations. */
const rewriteSharedRequest =
  (rewrite: (body: string, first: string, second: string) => string): TransformFactory =>
  () =>
  async (request, forward) => {
    const [first, second] = idsOfTraces(request);
    if (first === undefined || second === undefined) return forward(request);
    return forward(withBody(request, rewrite(request.body, first, second)));
  };

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

/** Edits the sessions of conversations that were closed without evals. */
function onBacklog(edit: (session: ResultsObject) => void): TransformFactory {
  return (): Transform => {
    const unscored = new Set<string>();
    const editUnscored = onSessions('production', (session) => {
      if (unscored.has(String(session['source_session_id']))) edit(session);
    })();
    return async (request, forward, clock) => {
      const response = await editUnscored(request, forward, clock);
      const id = conversationIdIn(request.path);
      if (request.endpoint !== 'end' || response === 'dropped' || id === undefined) return response;
      if (closesUnscored(response)) unscored.add(id);
      return response;
    };
  };
}

const isBacklogScoring: When = ({ path }) => path.startsWith('/__admin/score-backlog');

/** Forwards the first request to score the backlog, which is refused, and fakes the second. */
function fakeBacklogScoring(): Transform {
  let isRefused = false;
  return async (request, forward) => {
    if (!isBacklogScoring(request)) return forward(request);
    if (isRefused) return jsonResponse(200, { conversations: 2, evaluations_queued: 4, runs: [] });
    isRefused = true;
    return forward(request);
  };
}

/** Mutants of shared trace requests, late spans, and the backlog. */
export const lateMutants: readonly Mutant[] = [
  mutant(
    'late-spans-scored',
    'Scores a conversation again when spans arrive late.',
    'SERVICE-060',
    onLateConversations(doubleOutcomes),
  ),
  mutant(
    'late-spans-unscored',
    'Moves a conversation to another run when spans arrive late.',
    'SERVICE-060',
    onLateConversations((session) => {
      session['run'] = 'Live traces, reopened';
    }),
  ),
  mutant(
    'two-ids-as-one',
    'Assigns all spans of a request to one conversation.',
    'SERVICE-061',
    rewriteSharedRequest((body, first, second) => body.replaceAll(second, first)),
    fastClock,
  ),
  mutant(
    'two-ids-first-alone',
    'Keeps only the first conversation of a request.',
    'SERVICE-061',
    rewriteSharedRequest((body, first) => keepSpansOf(body, first)),
    fastClock,
  ),
  mutant(
    'two-ids-refused',
    'Refuses a request with two conversations.',
    'SERVICE-061',
    () => async (request, forward) =>
      idsOfTraces(request).length > 1 ? errorResponse(400) : forward(request),
    fastClock,
  ),
  mutant(
    'backlog-in-one-run',
    'Adds the whole backlog to one run.',
    'SERVICE-062',
    onBacklog((session) => {
      session['run'] = 'Live traces 2026-01-01';
    }),
  ),
  mutant(
    'backlog-left',
    'Reports that it scores the backlog but does not.',
    'SERVICE-062',
    fakeBacklogScoring,
  ),
  mutant(
    'backlog-without-evals',
    'Accepts scoring the backlog without evals.',
    'SERVICE-063',
    replaceParts(isBacklogScoring, { status: 200 }),
  ),
  mutant(
    'backlog-traces-gone',
    'Discards the turns of unscored conversations.',
    'SERVICE-064',
    onBacklog((session) => {
      if (Array.isArray(session['traces'])) session['traces'] = [];
    }),
  ),
];
