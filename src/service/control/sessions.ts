import type { FastifyInstance } from 'fastify';
import { brief, type SessionVerdict } from '../../contract/index.ts';
import { Refusal } from '../errors.ts';
import type { Session, SessionStore } from '../store/store.ts';
import { verdictOf } from '../verdict.ts';
import type { Owners } from './owners.ts';

/** `/sessions/{id}`: how a session came out, with what the interface has no place for. */
export function sessionRoutes(
  app: FastifyInstance,
  { owners, store }: { owners: Owners; store: SessionStore },
): void {
  app.get<{ Params: { id: string } }>('/sessions/:id', async (request) => {
    const { id } = request.params;
    const session = await store.find(await owners.named(request), id);
    if (session) return sessionVerdict(session);
    const cure = 'its id is the sessionId of its deep link';
    throw new Refusal('not_found', `there is no session ${brief(id)}; ${cure}`);
  });
}

function sessionVerdict(session: Session): SessionVerdict {
  const { id, kind, status, sourceSessionId, endReason } = session;
  return {
    id,
    kind,
    status,
    verdict: verdictOf(session),
    ...(sourceSessionId !== undefined && { source_session_id: sourceSessionId }),
    ...(endReason !== undefined && { end_reason: endReason }),
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
