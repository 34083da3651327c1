import type { FastifyInstance } from 'fastify';
import { formatValue, type ClosedConversation } from '../../contract/index.ts';
import { RequestError } from '../requests/errors.ts';
import type { Authentication } from '../requests/authentication.ts';
import type { CloseResult, Store } from '../store/store.ts';
import type { ConversationRef } from './close-conversation.ts';

/** Dependencies of the close endpoint. */
export interface CloseRouteDeps {
  authentication: Authentication;
  store: Pick<Store, 'ingestLog'>;
  close: (conversation: ConversationRef) => Promise<CloseResult | undefined>;
  /** Injects the faults set for this endpoint; throws the error to respond with. */
  injectFault: () => Promise<void>;
}

/**
 * Adds `POST /v1/sessions/{conversation_id}/end` (spec 4.2). Ignores any body and content type.
 * Repeated calls queue nothing.
 */
export function addCloseRoute(app: FastifyInstance, deps: CloseRouteDeps): void {
  const { authentication, close, injectFault } = deps;
  app.post<{ Params: { conversation_id: string } }>(
    '/v1/sessions/:conversation_id/end',
    async ({ raw, params }): Promise<ClosedConversation> => {
      const { ownerId } = await authentication.authenticateCaller(raw.headers);
      await injectFault();
      const conversationId = params.conversation_id;
      const result = await close({ ownerId, conversationId });
      if (!result) throw await unknownConversationError(deps, { ownerId, conversationId });
      return toCloseResponse(conversationId, result);
    },
  );
}

async function unknownConversationError(
  { store }: CloseRouteDeps,
  { ownerId, conversationId }: ConversationRef,
): Promise<RequestError> {
  const message =
    `There is no conversation ${formatValue(conversationId)}. Use the gen_ai.conversation.id of spans ` +
    'that were sent with the same API key.';
  const code = await store.ingestLog.findNewestDropCode(ownerId);
  const hint = ` Some spans were dropped or ignored (${code}); for details, see GET /__admin/ingest-log.`;
  return new RequestError('unknown_conversation', code === undefined ? message : message + hint);
}

/** Returns the response body (spec 2.3). */
function toCloseResponse(
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
