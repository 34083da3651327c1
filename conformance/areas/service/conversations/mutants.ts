import type { ResultsObject } from '../results-api.ts';
import {
  closesUnscored,
  conversationIdIn,
  conversationIdsIn,
  doubleOutcomes,
  emptyTraceResponse,
  errorResponse,
  fastClock,
  hasValidKey,
  mutant,
  onSessions,
  variant,
} from '../transforms.ts';
import {
  changeResponse,
  editAccepted,
  isAccepted,
  jsonResponse,
  replaceParts,
  respondInstead,
  withBody,
  type When,
} from '../../../engine/mutants/combinators.ts';
import type {
  Forward,
  Mutant,
  ProxyRequest,
  ProxyResponse,
  Transform,
  TransformFactory,
  Variant,
} from '../../../engine/mutants/mutant.ts';
import { SERVICE_API_KEY_HEADER } from '../../../../src/contract/index.ts';

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

const lateMutants: Mutant[] = [
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

/** Makes ids of the run equal that differ only in the case of their suffix. */
const foldIds = (text: string): string =>
  text.replaceAll(/(sk-[a-z0-9]{8}-[a-z0-9]{8}-)ab/gi, (_all, prefix: string) => `${prefix}ab`);

const foldRequestIds = (): Transform => async (request, forward) => {
  const path = foldIds(request.path);
  const body = foldIds(request.body);
  const isSame = path === request.path && body === request.body;
  return forward(isSame ? request : { ...withBody(request, body), path });
};

const hasEncodedId: When = ({ endpoint, path }) => endpoint === 'end' && path.includes('%');

const decodeTwice = (): Transform => async (request, forward) => {
  const [, id] = /^\/v1\/sessions\/([^/]*)\/end$/.exec(request.path) ?? [];
  if (id === undefined || !hasEncodedId(request)) return forward(request);
  const decoded = encodeURIComponent(decodeURIComponent(decodeURIComponent(id)));
  return forward({ ...request, path: `/v1/sessions/${decoded}/end` });
};

/** Accepts end calls for conversations of other owners; really closes them or only says so. */
const closeForOthers = (isReallyClosed: boolean) => (): Transform => {
  const keyById = new Map<string, string>();
  return async (request, forward) => {
    const { endpoint, headers, body, path } = request;
    const id = conversationIdIn(endpoint === 'traces' ? body : path);
    if (endpoint === 'traces' && hasValidKey(request) && id !== undefined) {
      keyById.set(id, headers[SERVICE_API_KEY_HEADER] ?? '');
    }
    const response = await forward(request);
    const ownKey = keyById.get(id ?? '');
    if (endpoint !== 'end' || response.status !== 404 || ownKey === undefined) return response;
    if (isReallyClosed) {
      return forward({ ...request, headers: { ...headers, [SERVICE_API_KEY_HEADER]: ownKey } });
    }
    return jsonResponse(200, {
      conversation_id: id,
      status: 'evaluating',
      run: 'Any',
      evaluations_queued: 0,
    });
  };
};

const idMutants: Mutant[] = [
  mutant('ids-folded', 'Ignores the case of ids.', 'SERVICE-065', foldRequestIds, fastClock),
  mutant(
    'ids-told-folded',
    'Returns ids in lower case.',
    'SERVICE-065',
    editAccepted('end', (body) => {
      body['conversation_id'] = foldIds(String(body['conversation_id']));
    }),
  ),
  mutant(
    'encoded-ids-unknown',
    'Does not decode the id in the path.',
    'SERVICE-066',
    respondInstead(hasEncodedId, () => errorResponse(404)),
  ),
  mutant(
    'slash-unknown',
    'Treats an encoded slash as a path separator.',
    'SERVICE-066',
    respondInstead(
      ({ path }) => path.includes('%2F'),
      () => errorResponse(404),
    ),
  ),
  mutant('ids-decoded-twice', 'Decodes ids twice.', 'SERVICE-066', decodeTwice),
  mutant(
    'ids-told-encoded',
    'Returns ids in their encoded form.',
    'SERVICE-066',
    changeResponse(hasEncodedId, (response, request) => {
      if (!isAccepted(response)) return response;
      const body = JSON.parse(response.body) as object;
      const encodedId = request.path.split('/')[3];
      return { ...response, body: JSON.stringify({ ...body, conversation_id: encodedId }) };
    }),
  ),
  mutant(
    'closes-of-others',
    'Closes conversations of other owners.',
    'SERVICE-067',
    closeForOthers(true),
  ),
  mutant(
    'says-closed-to-others',
    'Pretends to close conversations of other owners.',
    'SERVICE-067',
    closeForOthers(false),
  ),
];

/** Mutants of conversation ids, their owners, late spans, and the backlog. */
export const conversationMutants: readonly Mutant[] = [...lateMutants, ...idMutants];

const unchanged = (): void => {};

/** Legal variants of late spans; the specification does not say whether they are accepted. */
export const conversationVariants: readonly Variant[] = [
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
