import type { ServiceProbe, ServiceProbeContext } from '../context.ts';
import { cost } from '../../../engine/probe.ts';
import { isAccepted } from '../../../engine/transcript/reading.ts';
import { expectedSessions, waitUntilScored, type ExpectedSession } from '../results-polling.ts';
import {
  createChatSpan,
  createConversation,
  createTraceExport,
  type Conversation,
} from '../spans.ts';
import { createEndStep, createTracesStep } from '../requests.ts';

const OWNER = 'apart';

/** Uses ids that are easy to confuse: by case, by encoding in the path, and by owner. */
export const ids: ServiceProbe = {
  id: 'service/ids',
  area: 'service',
  phase: 'accepted',
  exercises: ['SERVICE-065', 'SERVICE-066', 'SERVICE-067'],
  cost: cost(13),
  async run(context) {
    const { service } = context;
    const first = createConversation(service, 'case', { offsetMs: 20_000, idSuffix: '-Ab' });
    const conversations: Conversation[] = [
      first,
      { ...first, name: 'other case', id: first.id.replace(/-Ab$/, '-aB') },
      createConversation(service, 'reserved', {
        offsetMs: 21_000,
        idSuffix: ' ?#&+%41 \u00e9\u6ce8',
      }),
      createConversation(service, 'slash', { offsetMs: 22_000, idSuffix: '/a' }),
    ];
    for (const conversation of conversations) await send(context, conversation);
    const expected: ExpectedSession[] = [];
    for (const { name, id } of conversations) {
      const close = await context.send(createEndStep(context, `close ${name}`, id, OWNER));
      if (close && isAccepted(close)) expected.push(...expectedSessions(id, close));
    }
    if (expected.length > 0) await waitUntilScored(context, expected, 'ids', OWNER);
    if (service.hasControlApi) await closeAsAnotherOwner(context);
  },
};

async function send(context: ServiceProbeContext, conversation: Conversation): Promise<void> {
  const request = createTraceExport([createChatSpan(context.service, conversation)]);
  await context.send(createTracesStep(context, conversation.name, request, { owner: OWNER }));
}

/** Another owner tries to close a conversation; then its own owner closes it. */
async function closeAsAnotherOwner(context: ServiceProbeContext): Promise<void> {
  const conversation = createConversation(context.service, 'own', { offsetMs: 23_000 });
  await send(context, conversation);
  const { id } = conversation;
  const foreignClose = createEndStep(context, 'close of another', id, 'limits');
  await context.send({ ...foreignClose, intent: 'open' });
  await context.send(createEndStep(context, 'close own', id, OWNER));
}
