import { SERVICE_API_KEY_HEADER } from '../../../../src/contract/index.ts';
import { isoTime, systemClock, HOUR_MS, MINUTE_MS } from '../../../../src/platform/clock.ts';
import { isObject, parseJson } from '../../../../src/platform/json.ts';
import { randomSeed, seededRandom } from '../../../../src/platform/random.ts';
import { jsonResponse, passThrough, type When } from '../../../engine/mutants/combinators.ts';
import type {
  ProxyRequest,
  ProxyResponse,
  Transform,
  TransformFactory,
} from '../../../engine/mutants/mutant.ts';
import type { MutantEntry } from '../../../engine/requirement.ts';
import { createChatSpan, createTraceExport } from '../spans.ts';
import { fastClock, hasValidKey, listOnly } from '../transforms.ts';

/** Evals that the service has before the run. */
const existingEvals = {
  evals: [
    { id: 'asked', name: 'Was asked', kind: 'contains', params: { text: 'where', in: 'user' } },
    { id: 'found', name: 'Was found', kind: 'contains', params: { text: 'way', in: 'agent' } },
  ],
  settings: { evals: ['asked', 'found'] },
};

/** Returns simulations that the service has before the run. */
function createExistingSimulations(nowMs: number): { agents: object[]; simulations: object[] } {
  const createSession = (hoursAgo: number, scenario: string, isFailed: boolean) => ({
    scenario,
    persona: 'any',
    started_at: isoTime(nowMs - hoursAgo * HOUR_MS),
    ended_at: isoTime(nowMs - hoursAgo * HOUR_MS + HOUR_MS / 2),
    turns: [{ user_input: 'Hello?', user_reason: 'greets', agent_response: 'Hello.' }],
    outcomes: [
      { eval_name: 'Polite', outcome: 'pass' },
      { eval_name: 'Resolved', outcome: isFailed ? 'fail' : 'pass' },
    ],
  });
  return {
    agents: [
      { name: 'Shop', url: 'https://shop.example/chat' },
      { name: 'Support', url: 'https://shop.example/help' },
    ],
    simulations: [
      {
        name: 'Weekly',
        agent: 'Shop',
        sessions: [
          createSession(9, 'refund', true),
          createSession(12, 'greeting', false),
          createSession(15, 'refund', false),
        ],
      },
      { name: 'Daily', agent: 'Support', sessions: [createSession(20, 'greeting', true)] },
    ],
  };
}

/** More sessions than the largest page lists, and than the run adds to one. */
const MANY_SESSIONS = 620;

/** Returns many sessions of the last hours, which the service has before the run. */
export function createManySessions(nowMs: number): object {
  const createSession = (index: number) => ({
    started_at: isoTime(nowMs - HOUR_MS - index * 30_000),
    ended_at: isoTime(nowMs - HOUR_MS - index * 30_000 + 20_000),
    outcomes: [
      { eval_name: 'Polite', outcome: 'pass' },
      ...(index % 3 === 0 ? [] : [{ eval_name: 'Resolved', outcome: index % 2 ? 'fail' : 'pass' }]),
    ],
  });
  const sessions = Array.from({ length: MANY_SESSIONS }, (_, index) => createSession(index));
  const { agents } = createExistingSimulations(nowMs);
  return {
    agents,
    runs: [
      {
        name: 'Earlier',
        sessions: sessions.map((session, index) => ({
          ...session,
          source_session_id: `earlier-${index}`,
        })),
      },
    ],
    simulations: [
      {
        name: 'Earlier',
        agent: 'Shop',
        sessions: sessions.map((session) => ({
          ...session,
          scenario: 'refund',
          persona: 'any',
          turns: [{ user_input: 'Hello?', user_reason: 'greets', agent_response: 'Hello.' }],
        })),
      },
    ],
  };
}

/** Sends and closes a conversation of someone else, in the period of the run, before every third read. */
export const addTraffic: TransformFactory = () => {
  let reads = 0;
  return async (request, forward, clock) => {
    if (request.endpoint === 'production' && hasValidKey(request) && reads++ % 3 === 0) {
      const conversation = {
        name: 'other',
        id: `other-${randomSeed()}`,
        passesSecondEval: reads % 2 === 0,
        startMs: clock.nowMs() - 5 * MINUTE_MS,
      };
      const random = seededRandom(conversation.id);
      const spans = createTraceExport([createChatSpan({ random }, conversation)]);
      await forward(createForeignRequest(request, 'traces', '/v1/traces', JSON.stringify(spans)));
      const path = `/v1/sessions/${conversation.id}/end`;
      await forward(createForeignRequest(request, 'end', path, ''));
    }
    return forward(request);
  };
};

const createForeignRequest = (
  { headers, connection }: ProxyRequest,
  endpoint: 'traces' | 'end',
  path: string,
  body: string,
): ProxyRequest => ({
  endpoint,
  method: 'POST',
  path,
  body,
  connection,
  json: undefined,
  headers: {
    [SERVICE_API_KEY_HEADER]: headers[SERVICE_API_KEY_HEADER] ?? '',
    ...(body !== '' && { 'content-type': 'application/json' }),
  },
});

const SCORING_MS = 50;

/** Hides conversations until they would be scored, one after another. */
export const scoreSlowly: TransformFactory = () => {
  const scoredAtMs = new Map<unknown, number>();
  let lastMs = 0;
  return async (request, forward, clock) => {
    if (request.endpoint === 'end') {
      const response = await forward(request);
      const body = parseJson(response.body);
      if (isObject(body) && !scoredAtMs.has(body['conversation_id'])) {
        lastMs = Math.max(lastMs, clock.monotonicMs()) + SCORING_MS;
        scoredAtMs.set(body['conversation_id'], lastMs);
      }
      return response;
    }
    return listOnly(
      ({ source_session_id: id }) => (scoredAtMs.get(id) ?? 0) <= clock.monotonicMs(),
    )(request, forward, clock);
  };
};

/** Matches control requests whose path starts with a text. */
export const isControlRequest =
  (path: string): When =>
  (request) =>
    request.path.startsWith(`/__admin/${path}`);

function createControlRequest(path: string, body: object): ProxyRequest {
  return {
    endpoint: 'admin',
    method: 'POST',
    path: `/__admin/${path}`,
    headers: { 'content-type': 'application/json' },
    connection: {},
    body: JSON.stringify(body),
    json: body,
  };
}

/** The response to every control request of a service without a control API. */
export const notFound = (): ProxyResponse => jsonResponse(404, { message: 'Not Found' });

/**
 * Simulates a service that the run cannot set up. It answers control requests with `respond`. Valid
 * requests use the key of a new owner with evals and simulations that the run does not know.
 */
export const withoutControlApi =
  (
    respond: (request: ProxyRequest) => ProxyResponse = notFound,
    createInner: TransformFactory = passThrough,
    createSessions: (nowMs: number) => object = createExistingSimulations,
  ): TransformFactory =>
  (): Transform => {
    const key = `sk_stranger_${randomSeed()}`;
    const owner = encodeURIComponent(key.slice(3));
    const inner = createInner();
    let userKey: string | undefined;
    let seeded: Promise<ProxyResponse> | undefined;
    return async (request, forward, clock) => {
      if (isControlRequest('')(request)) return respond(request);
      const sessions = createSessions(clock.nowMs());
      const seed = { ...existingEvals, ...sessions, keys: [{ key }] };
      seeded ??= forward(createControlRequest(`seed?owner=${owner}`, seed));
      await seeded;
      const sentKey = request.headers[SERVICE_API_KEY_HEADER];
      if (hasValidKey(request)) userKey ??= sentKey;
      // The service knows no key that the run made up.
      if (sentKey === undefined || sentKey !== userKey) return forward(request);
      const headers = { ...request.headers, [SERVICE_API_KEY_HEADER]: key };
      return inner({ ...request, headers }, forward, clock);
    };
  };

/** A mutant of a service without a control API, which the run knows only by its responses. */
export const onForeignService = ({ description, transform }: MutantEntry): MutantEntry => ({
  description,
  transform: withoutControlApi(notFound, transform),
  ...fastClock,
});

const SKIPPED_MS_MIN = 1_000;

/** Advances the service clock by the waiting time that the run skipped. */
export const advanceSkippedTime: TransformFactory = () => {
  let last: { ms: number; realMs: number } | undefined;
  let advancing: Promise<unknown> = Promise.resolve();
  return async (request, forward, clock) => {
    const now = { ms: clock.monotonicMs(), realMs: systemClock.monotonicMs() };
    const skippedMs = last ? now.ms - last.ms - (now.realMs - last.realMs) : 0;
    last = now;
    if (skippedMs > SKIPPED_MS_MIN) {
      advancing = forward(createControlRequest('clock', { advance_ms: Math.round(skippedMs) }));
    }
    // Concurrent requests must not arrive before the time has passed on all replicas.
    await advancing;
    return forward(request);
  };
};
