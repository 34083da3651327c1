import { DAY_MS } from '../../../../src/platform/clock.ts';
import { SAME_ID } from '../close/evidence.ts';
import { conversations } from '../close/probes.ts';
import type { ExpectedSession, OwnerName, ServiceProbe, ServiceProbeContext } from '../context.ts';
import {
  createControlStep,
  createEndStep,
  createResultsStep,
  createTracesStep,
  drain,
  expectedSessions,
  ownerQuery,
  runPeriod,
  waitUntilScored,
} from '../requests.ts';
import { production } from '../results/probes.ts';
import { seedLiveEvals } from '../seeds.ts';
import {
  type Conversation,
  createChatSpan,
  createConversation,
  createTraceExport,
} from '../spans.ts';
import type { ResultsStep, TracesStep } from '../steps.ts';
import { cost, type Step } from '../../../engine/probe.ts';
import { isAccepted } from '../../../engine/transcript/reading.ts';
import { resolvePointer } from '../../../../src/contract/index.ts';

const OWNER = 'apart';

/** Without a control API, nothing reports when a second scoring would be complete. */
const SCORING_PAUSE_MS = 1_000;

/** Sends two conversations in one request, and continues a conversation after it was scored. */
export const lateSpans: ServiceProbe = {
  id: 'service/late',
  area: 'service',
  phase: 'accepted',
  cost: cost(11),
  async run(context) {
    const { service } = context;
    const first = createConversation(service, 'first of two', { offsetMs: 9_000 });
    const second = createConversation(service, 'second of two', { offsetMs: 9_500 });
    const both = createTraceExport([
      createChatSpan(service, first),
      createChatSpan(service, second),
    ]);
    await context.send(createTracesStep(context, 'two ids', both, { owner: OWNER }));
    const firstClose = await context.send(
      createEndStep(context, 'close first of two', first.id, OWNER),
    );
    const secondClose = await context.send(
      createEndStep(context, 'close second of two', second.id, OWNER),
    );
    const late = createConversation(service, 'late', { offsetMs: 10_000 });
    const onTime = createTraceExport([createChatSpan(service, late)]);
    await context.send(createTracesStep(context, 'late', onTime, { owner: OWNER }));
    const lateClose = await context.send(createEndStep(context, 'close late', late.id, OWNER));
    if (!lateClose || !isAccepted(lateClose)) return;
    const isScored = resolvePointer(lateClose.json, '/evaluations_queued') !== 0;
    if (service.hasControlApi) await drain(context);
    const expected = [
      ...expectedSessions(first, firstClose),
      ...expectedSessions(second, secondClose),
      ...expectedSessions(late, lateClose),
    ];
    if (isScored) await waitUntilScored(context, expected, 'before late spans', OWNER);
    // The span of the first turn arrives again.
    const tooLate = createTraceExport([
      createChatSpan(service, late),
      createChatSpan(service, late, 2),
    ]);
    const lateRequest = createTracesStep(context, 'late again', tooLate, { owner: OWNER });
    await context.send({ ...lateRequest, intent: 'open' });
    if (service.hasControlApi) await drain(context);
    else if (isScored) await service.pause(SCORING_PAUSE_MS);
    const query = { ...runPeriod(service), include_traces: 'true', limit: '500' };
    await context.send(createResultsStep(context, 'production', 'after late spans', query, OWNER));
    await context.send(createEndStep(context, 'close late again', late.id, OWNER));
  },
};

/** Closes conversations of two days without evals, and requests their scoring later. */
export const backlog: ServiceProbe = {
  id: 'service/backlog',
  area: 'service',
  phase: 'accepted',
  // Their sessions show whether run names differ between days.
  needs: [conversations, production],
  cost: cost(13),
  async run(context) {
    const { service } = context;
    if (!service.hasControlApi) return;
    await closeUnscored(context, { name: 'backlog old', offsetMs: -3 * DAY_MS });
    const second = { name: 'backlog', offsetMs: -DAY_MS } as const;
    // Another owner has sent the same spans before.
    await context.send(createUnscoredTraces(context, second, { step: SAME_ID, owner: 'limits' }));
    await closeUnscored(context, second);
    const scorePath = `/score-backlog${ownerQuery(service, 'backlog')}`;
    await context.send(createControlStep('score no evals', scorePath, {}));
    const seedPath = `/seed${ownerQuery(service, 'backlog')}`;
    await context.send(createControlStep('evals for backlog', seedPath, seedLiveEvals(service)));
    const query = { ...runPeriod(service), include_traces: 'true' };
    const scoreAndRead = async (scoring: string, reading: ResultsStep): Promise<void> => {
      await context.send(createControlStep(scoring, scorePath, {}));
      await drain(context);
      await context.send(createResultsStep(context, 'production', reading, query, 'backlog'));
    };
    await scoreAndRead('score backlog', 'backlog at first');
    // When they are scored, there is no backlog left.
    await scoreAndRead('score backlog again', 'backlog');
  },
};

/** A conversation of the backlog. */
interface Unscored {
  name: 'backlog old' | 'backlog';
  offsetMs: number;
}

function createUnscoredTraces(
  context: ServiceProbeContext,
  { name, offsetMs }: Unscored,
  { step, owner }: { step: TracesStep; owner: OwnerName },
): Step {
  const conversation = createConversation(context.service, name, { offsetMs });
  const spans = [1, 2].map((turn) => createChatSpan(context.service, conversation, turn));
  return createTracesStep(context, step, createTraceExport(spans), { owner });
}

async function closeUnscored(context: ServiceProbeContext, unscored: Unscored): Promise<void> {
  const { name } = unscored;
  const owner = 'backlog';
  await context.send(createUnscoredTraces(context, unscored, { step: name, owner }));
  const { id } = createConversation(context.service, name);
  await context.send(createEndStep(context, `close ${name}`, id, owner));
}

/** With these letters, an id has 100 characters. */
const LONG_SUFFIX = 'a'.repeat(80);

/** Returns an id as part of a path. There, a plus sign that is not encoded is a plus sign, too. */
const encodeWithPlainPlus = (id: string): string => encodeURIComponent(id).replaceAll('%2B', '+');

/** Uses ids that are easy to confuse: by case, by encoding in the path, and by owner. */
export const ids: ServiceProbe = {
  id: 'service/ids',
  area: 'service',
  phase: 'accepted',
  cost: cost(16),
  async run(context) {
    const { service } = context;
    const first = createConversation(service, 'case', { offsetMs: 11_000, idSuffix: '-Ab' });
    const conversations: Conversation[] = [
      first,
      { ...first, name: 'other case', id: first.id.replace(/-Ab$/, '-aB') },
      createConversation(service, 'reserved', {
        offsetMs: 12_000,
        idSuffix: ' ?#&:+%41 \u00e9\u6ce8',
      }),
      createConversation(service, 'slash', { offsetMs: 13_000, idSuffix: '/+ a' }),
    ];
    for (const conversation of conversations) {
      await context.send(createSpanStep(context, conversation));
    }
    const expected: ExpectedSession[] = [];
    for (const conversation of conversations) {
      const { name, id } = conversation;
      const request = createEndStep(context, `close ${name}`, id, OWNER);
      const close = await context.send({
        ...request,
        ...(name === 'slash' && { path: encodeWithPlainPlus(id) }),
      });
      expected.push(...expectedSessions(conversation, close));
    }
    expected.push(...(await closeLongId(context)));
    if (service.hasControlApi) await drain(context);
    if (expected.length > 0) await waitUntilScored(context, expected, 'ids', OWNER);
    if (service.hasControlApi) await closeAsAnotherOwner(context);
  },
};

function createSpanStep(context: ServiceProbeContext, conversation: Conversation): Step {
  const request = createTraceExport([createChatSpan(context.service, conversation)]);
  return createTracesStep(context, conversation.name, request, { owner: OWNER });
}

/** Sends and closes a conversation with a long id, which a service may refuse. */
async function closeLongId(context: ServiceProbeContext): Promise<ExpectedSession[]> {
  const conversation = createConversation(context.service, 'long', {
    offsetMs: 13_500,
    idSuffix: LONG_SUFFIX,
  });
  const sent = await context.send({ ...createSpanStep(context, conversation), intent: 'open' });
  if (!sent || !isAccepted(sent)) return [];
  const closeStep = createEndStep(context, 'close long', conversation.id, OWNER);
  const close = await context.send({ ...closeStep, intent: 'open' });
  return expectedSessions(conversation, close);
}

/** Another owner tries to close a conversation; then its own owner closes it. */
async function closeAsAnotherOwner(context: ServiceProbeContext): Promise<void> {
  const conversation = createConversation(context.service, 'own', { offsetMs: 14_000 });
  await context.send(createSpanStep(context, conversation));
  const { id } = conversation;
  const foreignClose = createEndStep(context, 'close of another', id, 'limits');
  await context.send({ ...foreignClose, intent: 'open' });
  await context.send(createEndStep(context, 'close own', id, OWNER));
}
