import type { FastifyInstance } from 'fastify';
import { formatValue, type SessionVerdict } from '../../contract/index.ts';
import { createNoLinesError, storeScenarioOf } from '../operations/conversation-scenarios.ts';
import { RequestError } from '../requests/errors.ts';
import { makeScenarioFromConversation } from '../scenarios/conversation-scenario.ts';
import { makeDeepLink } from '../sessions/deep-link.ts';
import { decideVerdict } from '../sessions/verdict.ts';
import type { Session, Store } from '../store/store.ts';
import type { RequestOwners } from './request-owners.ts';

interface SessionRoutesOptions {
  owners: RequestOwners;
  store: Store;
  /** Returns the base URL of the deep links; it is known once the service listens. */
  appUrl: () => string;
}

const SESSIONS_MAX = 500;

type WithId = { Params: { id: string } };

/**
 * `/sessions`: results with what the interface leaves out, namely verdicts, evals that errored, and
 * sessions without results. The list contains the newest 500 sessions.
 * `/conversations/{id}/scenario`: a conversation or session as a scenario.
 */
export function addSessionRoutes(
  app: FastifyInstance,
  { owners, store, appUrl }: SessionRoutesOptions,
): void {
  app.get('/sessions', async (request) => ({
    sessions: await listVerdicts({ store, appUrl }, await owners.find(request)),
  }));
  app.get<WithId>('/sessions/:id', async (request) => {
    const { id } = request.params;
    const session = await store.sessions.find(await owners.find(request), id);
    if (session) return toSessionVerdict(session, appUrl());
    throw new RequestError(
      'not_found',
      `There is no session ${formatValue(id)}. The id is the sessionId of its deep link. ` +
        'GET /__admin/sessions lists all sessions.',
    );
  });
  app.get<WithId>('/conversations/:id/scenario', async (request) => {
    const { id } = request.params;
    const scenario = await makeScenarioFromConversation(store, await owners.find(request), id);
    if (scenario) return scenario;
    throw createNoLinesError(id);
  });
  app.post<WithId>('/conversations/:id/scenario', async (request) => {
    const { id } = request.params;
    const ownerId = await owners.find(request);
    const { scenario, notes, isNew } = await storeScenarioOf(store, ownerId, id);
    return { scenario, notes, is_new: isNew };
  });
}

/** Returns the newest sessions of an owner with their verdicts. */
export async function listVerdicts(
  { store, appUrl }: Pick<SessionRoutesOptions, 'store' | 'appUrl'>,
  ownerId: string,
): Promise<SessionVerdict[]> {
  const sessions = await store.sessions.listNewest(ownerId, SESSIONS_MAX);
  return sessions.map((session) => toSessionVerdict(session, appUrl()));
}

function toSessionVerdict(session: Session, appUrl: string): SessionVerdict {
  const url = makeDeepLink(session, appUrl);
  const { id, kind, status, sourceSessionId, endReason } = session;
  return {
    id,
    kind,
    status,
    verdict: decideVerdict(session),
    ...(url !== null && { url }),
    ...(sourceSessionId !== undefined && { source_session_id: sourceSessionId }),
    ...(endReason !== undefined && { end_reason: endReason }),
    ...(session.simulated && { simulated: { ...session.simulated } }),
    outcomes: session.outcomes.map((outcome) => ({
      eval: outcome.evalId,
      eval_name: outcome.evalName,
      eval_category: outcome.category,
      eval_type: outcome.type,
      outcome: outcome.outcome,
      required: outcome.required,
      reasoning: outcome.reasoning,
      ...(outcome.evidence?.length && { evidence: [...outcome.evidence] }),
    })),
  };
}
