import type { FastifyInstance } from 'fastify';
import { brief, type ClosedConversation } from '../../contract/index.ts';
import { RequestError } from '../domain/errors.ts';
import type { Authentication } from '../app/authentication.ts';
import type { CloseResult, IngestLogStore } from '../store/store.ts';
import type { ConversationRef } from './close-conversation.ts';

/** What the end call works with. */
export interface EndCallDeps {
  authentication: Authentication;
  ingestLog: Pick<IngestLogStore, 'findNewestDropCode'>;
  close: (conversation: ConversationRef) => Promise<CloseResult | undefined>;
  /** Injects the faults set for this endpoint; throws the error to respond with. */
  injectFault: () => Promise<void>;
}

/**
 * `POST /v1/sessions/{conversation_id}/end` (spec 4.2). A body, and what it is said to be, is
 * ignored. A repeated call queues nothing.
 */
export function addCloseRoute(app: FastifyInstance, deps: EndCallDeps): void {
  const { authentication, close, injectFault } = deps;
  app.post<{ Params: { conversation_id: string } }>(
    '/v1/sessions/:conversation_id/end',
    async ({ raw, params }): Promise<ClosedConversation> => {
      const { ownerId } = await authentication.caller(raw.headers);
      await injectFault();
      const conversationId = params.conversation_id;
      const closed = await close({ ownerId, conversationId });
      if (!closed) throw await unknown(deps, { ownerId, conversationId });
      return closedView(conversationId, closed);
    },
  );
}

async function unknown(
  { ingestLog }: EndCallDeps,
  { ownerId, conversationId }: ConversationRef,
): Promise<RequestError> {
  const which = `there is no conversation ${brief(conversationId)}`;
  const cure = 'its id is the gen_ai.conversation.id of spans that this key has sent';
  const code = await ingestLog.findNewestDropCode(ownerId);
  const dropped = `; spans were dropped (${code}): GET /__admin/ingest-log tells which`;
  return new RequestError('unknown_conversation', `${which}; ${cure}${code ? dropped : ''}`);
}

/** The close response (spec 2.3). */
function closedView(
  conversationId: string,
  { run, evaluationsQueued, alreadyClosed }: CloseResult,
): ClosedConversation {
  return {
    conversation_id: conversationId,
    status: 'evaluating',
    run,
    evaluations_queued: evaluationsQueued,
    ...(alreadyClosed && { already_closed: true }),
  };
}
