import type { FastifyInstance } from 'fastify';
import { brief, type SessionVerdict } from '../../contract/index.ts';
import { makeDeepLink, decideVerdict } from '../domain/sessions.ts';
import { RequestError } from '../domain/errors.ts';
import type { Session, SessionStore } from '../store/store.ts';
import type { Owners } from './owners.ts';

/** What sessions are shown with. */
interface Deps {
  owners: Owners;
  store: SessionStore;
  /** Base of the deep links; known once the service listens. */
  appUrl: () => string;
}

const sessionsMax = 500;

/**
 * `/sessions` and `/sessions/{id}`: how sessions came out, with what the interface has no place for:
 * verdicts, evals that errored, and sessions without results. The newest 500 are listed.
 */
export function sessionRoutes(app: FastifyInstance, { owners, store, appUrl }: Deps): void {
  app.get('/sessions', async (request) => {
    const sessions = await store.listNewest(await owners.find(request), sessionsMax);
    return { sessions: sessions.map((session) => sessionVerdict(session, appUrl())) };
  });
  app.get<{ Params: { id: string } }>('/sessions/:id', async (request) => {
    const { id } = request.params;
    const session = await store.find(await owners.find(request), id);
    if (session) return sessionVerdict(session, appUrl());
    const cure = 'its id is the sessionId of its deep link, and GET /__admin/sessions lists all';
    throw new RequestError('not_found', `there is no session ${brief(id)}; ${cure}`);
  });
}

function sessionVerdict(session: Session, appUrl: string): SessionVerdict {
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
    ...(session.simulated && { simulated: session.simulated }),
    outcomes: session.outcomes.map((outcome) => ({
      eval: outcome.evalId,
      eval_name: outcome.evalName,
      eval_category: outcome.category,
      eval_type: outcome.type,
      outcome: outcome.outcome,
      required: outcome.required,
      reasoning: outcome.reasoning,
    })),
  };
}
