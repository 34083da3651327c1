import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../../src/platform/clock.ts';
import { cost, type Step } from '../../../engine/probe.ts';
import type { Exchange } from '../../../engine/transcript/reading.ts';
import type { ExpectedSession, ServiceProbe, ServiceProbeContext } from '../context.ts';
import {
  createControlStep,
  createEndStep,
  createRefusedStep,
  createResultsStep,
  createTracesStep,
  drain,
  expectedSessions,
  ownerQuery,
  runPeriod,
  waitUntilScored,
  advanceClock,
} from '../requests.ts';
import { seedEvals, seedLiveEvals, uploadSessionId } from '../seeds.ts';
import {
  CLOSE_OF_IDLE,
  CLOSE_OF_IGNORED,
  CLOSE_WITH_SECOND_KEY,
  CLOSED_LAST,
  CLOSED_TWICE,
  CLOSED_TWICE_SUBJECT,
  CONCURRENT_CLOSE_STEP,
  IGNORED_ALONE,
} from './evidence.ts';
import {
  createIgnoredAlone,
  createOpenTurn,
  planClosedLast,
  planConversations,
  planOldTurns,
  type PlannedConversation,
} from './planned-conversations.ts';
import type { ConversationName, TracesStep } from '../steps.ts';
import {
  createChatSpan,
  createConversation,
  createTraceExport,
  type Conversation,
} from '../spans.ts';

/** Sends a span without an operation name alone, and an end call for its conversation. */
async function endIgnoredAlone(
  context: ServiceProbeContext,
  control: { close: Step; exchange: Exchange },
): Promise<void> {
  const { id, request } = createIgnoredAlone(context.service);
  await context.send(createTracesStep(context, IGNORED_ALONE, request));
  const { close, exchange } = control;
  const path = encodeURIComponent(id);
  await context.send(createRefusedStep(exchange, close, { step: CLOSE_OF_IGNORED, path }));
}

/** Sends a conversation, closes it, and returns the session to expect in the results. */
async function sendAndClose(
  context: ServiceProbeContext,
  { conversation, requests }: PlannedConversation,
): Promise<ExpectedSession[]> {
  for (const request of requests) await context.send(request);
  const { name, id } = conversation;
  const close = await context.send(createEndStep(context, `close ${name}`, id));
  return expectedSessions(conversation, close);
}

/**
 * Sends two more spans of a conversation at the same moment, with spans that arrive twice, and then two
 * end calls for it at the same moment.
 */
async function closeTwiceAtOnce(context: ServiceProbeContext): Promise<ExpectedSession[]> {
  const conversation = {
    ...createConversation(context.service, CLOSED_TWICE, { offsetMs: 9_000 }),
    subject: CLOSED_TWICE_SUBJECT,
  };
  const sendTurn = (turn: number, step: TracesStep, atOnce = 4) => {
    const request = createTraceExport([createChatSpan(context.service, conversation, turn)]);
    const traces = createTracesStep(context, step, request);
    return context.send({ ...traces, order: 'together', atOnce });
  };
  await sendTurn(1, CLOSED_TWICE, 1);
  await Promise.all([
    sendTurn(2, CLOSED_TWICE),
    sendTurn(1, `${CLOSED_TWICE} again`),
    sendTurn(3, CLOSED_TWICE),
    sendTurn(3, `${CLOSED_TWICE} again`),
  ]);
  const close: Step = {
    ...createEndStep(context, CONCURRENT_CLOSE_STEP, conversation.id),
    order: 'together',
    atOnce: 2,
  };
  const closes = await Promise.all([context.send(close), context.send(close)]);
  return closes.flatMap((exchange) => expectedSessions(conversation, exchange)).slice(0, 1);
}

/** Sends conversations in every form, closes them, and waits for their results. */
export const conversations: ServiceProbe = {
  id: 'service/conversations',
  area: 'service',
  phase: 'accepted',
  cost: cost(56),
  async run(context) {
    const { service } = context;
    const daysAgo = (name: ConversationName, days: number): Conversation =>
      createConversation(service, name, { offsetMs: -days * DAY_MS });
    // Sent before the others, so that it is also the oldest by time of arrival.
    const old = planOldTurns(context, daysAgo('old', 3));
    const oldSession = await sendAndClose(context, old);
    const planned = planConversations(context);
    const sessions = await Promise.all([
      closeTwiceAtOnce(context),
      ...planned.map((each) => sendAndClose(context, each)),
    ]);
    // Sent and closed after the others, so that only its start makes it older. It starts half a day
    // before or after the hour of the others, so the hour of one of them is after noon.
    const lastSession = await sendAndClose(
      context,
      planClosedLast(context, daysAgo(CLOSED_LAST, 1.5)),
    );
    await context.send(createOpenTurn(context));
    // The conversation of days ago must stay in the run of its date.
    const close = createEndStep(context, 'close again', old.conversation.id);
    const exchange = await context.send(close);
    if (exchange) await endIgnoredAlone(context, { close, exchange });
    if (service.hasControlApi) {
      const withSecondKey = { ...close, ...service.secondKeyFor('main') };
      await context.send({ ...withSecondKey, step: CLOSE_WITH_SECOND_KEY });
    }
    const upload = service.hasControlApi
      ? [{ id: uploadSessionId(service), evaluations: 1, startMs: service.baseMs }]
      : [];
    await waitUntilScored(context, [...oldSession, ...sessions.flat(), ...lastSession, ...upload]);
  },
};

/** Closes conversations without evals, with a deleted eval, and with a custom run name. */
export const settings: ServiceProbe = {
  id: 'service/settings',
  area: 'service',
  phase: 'accepted',
  cost: cost(11),
  async run(context) {
    const { service } = context;
    if (!service.hasControlApi) return;
    const [bare] = await Promise.all([
      sendAndCloseAs(context, 'bare'),
      sendAndCloseAs(context, 'deleted'),
      sendAndCloseAs(context, 'named'),
    ]);
    const seedPath = `/seed${ownerQuery(service, 'bare')}`;
    await context.send(createControlStep('evals for bare', seedPath, seedLiveEvals(service)));
    await context.send(createEndStep(context, 'close bare again', bare.id, 'bare'));
    await drain(context);
    for (const owner of ['bare', 'deleted'] as const) {
      await context.send(
        createResultsStep(context, 'production', owner, runPeriod(service), owner),
      );
    }
  },
};

async function sendAndCloseAs(
  context: ServiceProbeContext,
  owner: 'bare' | 'deleted' | 'named',
): Promise<Conversation> {
  const conversation = createConversation(context.service, owner);
  const request = createTraceExport([createChatSpan(context.service, conversation)]);
  await context.send(createTracesStep(context, owner, request, { owner }));
  await context.send(createEndStep(context, `close ${owner}`, conversation.id, owner));
  return conversation;
}

/** The steps that read the results of a conversation whose last span arrived some hours before. */
export const AFTER_23_HOURS = 'after 23 hours';
export const AFTER_24_HOURS = 'after 24 hours';

/**
 * Sends a span, the same and another one an hour later, and reads the results after the conversation has been idle for
 * 23 and for 24 hours. A service may close idle conversations only every few seconds.
 */
export async function probeIdleClose(context: ServiceProbeContext): Promise<void> {
  const { service } = context;
  const owner = 'idle';
  const conversation = createConversation(service, 'idle');
  const sendTurns = (step: TracesStep, turns: number[]) => {
    const spans = turns.map((turn) => createChatSpan(service, conversation, turn));
    return context.send(createTracesStep(context, step, createTraceExport(spans), { owner }));
  };
  await sendTurns('idle', [1]);
  await advanceClock(context, 'clock', HOUR_MS);
  await sendTurns('idle again', [1, 2]);
  await advanceClock(context, 'clock', 23 * HOUR_MS);
  await drain(context);
  const query = runPeriod(service);
  await context.send(createResultsStep(context, 'production', AFTER_23_HOURS, query, owner));
  await advanceClock(context, 'clock', HOUR_MS + MINUTE_MS);
  await drain(context);
  const { length: evaluations } = seedEvals(service);
  const expected = [{ id: conversation.id, evaluations, startMs: conversation.startMs }];
  await waitUntilScored(context, expected, AFTER_24_HOURS, owner);
  await context.send(createEndStep(context, CLOSE_OF_IDLE, conversation.id, owner));
}
