import type { ServiceProbe, ServiceProbeContext } from '../context.ts';
import { type BadKey, cost, type Step } from '../../../engine/probe.ts';
import type { Exchange } from '../../../engine/transcript/reading.ts';
import { createChatSpan, createConversation, createTraceExport } from '../spans.ts';
import {
  createEndStep,
  createRefusedStep,
  createResultsStep,
  createTracesStep,
  expectedSessions,
} from '../requests.ts';
import { UPPER_CASE_HEADER } from './keys.ts';

/** Keys that every endpoint gets. */
const badKeys: readonly BadKey[] = ['none', 'wrong', 'longer'];
/** Keys that one endpoint gets, because all of them look keys up in the same way. */
const similarKeys: readonly BadKey[] = ['shorter', 'other case'];

/** Sends requests without a key and with a wrong key, next to requests with the right key. */
export const keys: ServiceProbe = {
  id: 'service/keys',
  area: 'service',
  phase: 'refused',
  cost: cost(20),
  async run(context) {
    const { service } = context;
    const conversation = createConversation(service, 'keys');
    const spans = createTraceExport([createChatSpan(service, conversation)]);
    const traces = await context.send(createTracesStep(context, 'keys', spans));
    if (!traces) return;
    const requests: Step[] = [
      createEndStep(context, 'close keys', conversation.id),
      // On one connection, a service must not remember the key of an earlier request.
      { ...createResultsStep(context, 'production', 'keys'), connection: 'keep-alive' },
      createResultsStep(context, 'simulations', 'keys'),
    ];
    const controls = await Promise.all(requests.map((request) => context.send(request)));
    service.awaited.push(...expectedSessions(conversation, controls[0]));
    await Promise.all([
      ...requests.flatMap((request, index) => {
        const control = controls[index];
        if (!control) return [];
        const keys = request.endpoint === 'production' ? [...badKeys, ...similarKeys] : badKeys;
        return keys.map((key) =>
          context.send(createRefusedStep(control, request, { step: `${key} key`, key })),
        );
      }),
      context.send({
        ...createResultsStep(context, 'production', UPPER_CASE_HEADER, { limit: '1' }),
        keyHeaderCase: 'upper',
      }),
      ...badKeys.map((key) => sendTracesWithoutKey(context, traces, key)),
    ]);
  },
};

/**
 * Sends a conversation without the right key. If the service redirects the request, an end call
 * finds out whether the service kept the spans anyway.
 */
async function sendTracesWithoutKey(
  context: ServiceProbeContext,
  control: Exchange,
  key: BadKey,
): Promise<void> {
  const conversation = createConversation(context.service, `${key} key`);
  const spans = createTraceExport([createChatSpan(context.service, conversation)]);
  const request = createTracesStep(context, `${key} key`, spans);
  const exchange = await context.send(createRefusedStep(control, request, { key }));
  const status = exchange?.response?.status ?? 0;
  if (status < 300 || status >= 400) return;
  const close = createEndStep(context, `close ${key} key`, conversation.id);
  await context.send({ ...close, intent: 'open' });
}
