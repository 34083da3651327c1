import type { FastifyInstance } from 'fastify';
import { brief, type ClosedConversation } from '../../contract/index.ts';
import { Refusal } from '../errors.ts';
import type { Gate } from '../gate.ts';
import type { Closed } from '../store/store.ts';
import type { ConversationRef } from './close-conversation.ts';

/** What the end call works with. */
export interface EndCallDeps {
  gate: Gate;
  close: (conversation: ConversationRef) => Promise<Closed | undefined>;
  /** Lets the request suffer what faults are set; throws the refusal that it shows. */
  suffer: () => Promise<void>;
}

/**
 * `POST /v1/sessions/{conversation_id}/end` (spec 4.2). A body, and what it is said to be, is
 * ignored. A repeated call queues nothing.
 */
export function closeRoute(app: FastifyInstance, { gate, close, suffer }: EndCallDeps): void {
  app.post<{ Params: { conversation_id: string } }>(
    '/v1/sessions/:conversation_id/end',
    async ({ raw, params }): Promise<ClosedConversation> => {
      const { ownerId } = await gate.caller(raw.headers);
      await suffer();
      const conversationId = params.conversation_id;
      const closed = await close({ ownerId, conversationId });
      if (!closed) {
        const which = `there is no conversation ${brief(conversationId)}`;
        const cure = 'its id is the gen_ai.conversation.id of spans that this key has sent';
        throw new Refusal('unknown_conversation', `${which}; ${cure}`);
      }
      return closedView(conversationId, closed);
    },
  );
}

/** The close response (spec 2.3). */
function closedView(
  conversationId: string,
  { run, evaluationsQueued, alreadyClosed }: Closed,
): ClosedConversation {
  return {
    conversation_id: conversationId,
    status: 'evaluating',
    run,
    evaluations_queued: evaluationsQueued,
    ...(alreadyClosed && { already_closed: true }),
  };
}
