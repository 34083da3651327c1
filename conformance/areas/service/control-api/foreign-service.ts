import { SERVICE_API_KEY_HEADER } from '../../../../src/contract/index.ts';
import { isoTime, systemClock, HOUR_MS } from '../../../../src/platform/clock.ts';
import { randomSeed } from '../../../../src/platform/random.ts';
import { jsonResponse, type When } from '../../../engine/mutants/combinators.ts';
import type {
  ProxyRequest,
  ProxyResponse,
  Transform,
  TransformFactory,
} from '../../../engine/mutants/mutant.ts';
import type { MutantEntry } from '../../../engine/requirement.ts';
import { fastClock, hasValidKey } from '../transforms.ts';

/** Evals that the service has before the run. */
const existingEvals = {
  evals: [
    { id: 'asked', name: 'Was asked', kind: 'contains', params: { text: 'where', in: 'user' } },
    { id: 'found', name: 'Was found', kind: 'contains', params: { text: 'way', in: 'agent' } },
  ],
  settings: { evals: ['asked', 'found'] },
};

/** Returns simulations that the service has before the run. */
function createExistingSimulations(nowMs: number): object {
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
    createInner: TransformFactory = () => (request, forward) => forward(request),
  ): TransformFactory =>
  (): Transform => {
    const key = `sk_stranger_${randomSeed()}`;
    const owner = encodeURIComponent(key.slice(3));
    const inner = createInner();
    let seeded: Promise<ProxyResponse> | undefined;
    return async (request, forward, clock) => {
      if (isControlRequest('')(request)) return respond(request);
      const simulations = createExistingSimulations(clock.nowMs());
      const seed = { ...existingEvals, ...simulations, keys: [{ key }] };
      seeded ??= forward(createControlRequest(`seed?owner=${owner}`, seed));
      await seeded;
      if (!hasValidKey(request)) return forward(request);
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
