import { userIdLengthMax, valueAt, type ChatMessage } from '../../../src/contract/index.ts';
import type { ProbeContext } from '../../engine/probe-context.ts';
import { refusals, silences } from './refusal-probes.ts';
import {
  fullRequest,
  GREETING,
  knownMetadata,
  otherMetadata,
  sessionId,
  user,
  valid,
  without,
} from './requests.ts';
import { cost, type Probe } from '../../engine/probe.ts';
import { PREFLIGHT } from '../../engine/transcript/reading.ts';

const probe: Probe = {
  id: PREFLIGHT,
  area: 'chat',
  phase: 'preflight',
  exercises: ['CHAT-002'],
  cost: cost(1, 1),
  async run(context) {
    await context.send(valid('minimal', { messages: [user(GREETING)] }));
  },
};

const forms: Probe = {
  id: 'chat/forms',
  area: 'chat',
  phase: 'accepted',
  exercises: [
    ...(['CHAT-001', 'CHAT-003', 'CHAT-004', 'CHAT-005', 'CHAT-006', 'CHAT-007'] as const),
    ...(['CHAT-008', 'CHAT-009', 'CHAT-020', 'CHAT-021', 'CHAT-022', 'CHAT-023'] as const),
    ...(['CHAT-024', 'CHAT-030', 'CHAT-050', 'CHAT-080'] as const),
  ],
  cost: cost(9, 9),
  async run(context) {
    const messages = [user(GREETING)];
    const steps = [
      valid('full', fullRequest(context)),
      valid('without user_id', without(fullRequest(context), 'user_id')),
      valid('without session_id', without(fullRequest(context), 'session_id')),
      valid('without metadata', without(fullRequest(context), 'metadata')),
      valid('only session_id', { messages, session_id: sessionId(context) }),
      valid('known metadata', { messages, metadata: knownMetadata }),
      valid('other metadata', {
        ...fullRequest(context),
        metadata: { ...knownMetadata, ...otherMetadata },
      }),
      valid('only other metadata', { messages, metadata: otherMetadata }),
      ...(context.users.chatAs === undefined
        ? []
        : [valid('only user_id', { messages, user_id: context.users.chatAs })]),
    ];
    await Promise.all(steps.map((step) => context.send(step)));
  },
};

const contents: Probe = {
  id: 'chat/contents',
  area: 'chat',
  phase: 'accepted',
  exercises: ['CHAT-010', 'CHAT-011', 'CHAT-015'],
  cost: cost(3, 3),
  async run(context) {
    const history: ChatMessage[] = [
      { role: 'system', content: 'The customer writes in the evening.' },
      user(GREETING),
      { role: 'assistant', content: 'Hello! I can help you with your orders.' },
      user('Good. And what are your opening hours?'),
    ];
    const unicode = user('Grüezi 👋\n“Où est ma commande?”\t注文はどこですか? مرحبا');
    const long = Array.from({ length: LONG_HISTORY - 1 }, (_, index): ChatMessage =>
      index % 2 === 0 ? user('I still wait.') : { role: 'assistant', content: 'I am sorry.' },
    );
    const messages = [{ role: 'system' as const, content: 'A patient customer.' }, ...long];
    await Promise.all([
      context.send(valid('history', { ...fullRequest(context), messages: history })),
      context.send(valid('unicode', { ...fullRequest(context), messages: [unicode] })),
      context.send(valid('long history', { ...fullRequest(context), messages })),
    ]);
  },
};

const LONG_HISTORY = 40;

const lines = [
  'Hello, I have a question about an order.',
  'Its number is A-1001.',
  'Thank you, that is all.',
];

/** One session, turn after turn, with what the agent really answered as its history. */
const conversation: Probe = {
  id: 'chat/conversation',
  area: 'chat',
  phase: 'accepted',
  exercises: ['CHAT-012', 'CHAT-030'],
  cost: cost(lines.length, lines.length),
  async run(context) {
    const request = fullRequest(context);
    const messages: ChatMessage[] = [];
    for (const line of lines) {
      messages.push(user(line));
      const reply = await context.send(valid('turn', { ...request, messages: [...messages] }));
      const content = valueAt(reply?.json, '/choices/0/message/content');
      if (typeof content !== 'string') return;
      messages.push({ role: 'assistant', content });
    }
  },
};

/** Two sessions after each other on one connection, as a client with keep-alive sends them. */
const connection: Probe = {
  id: 'chat/connection',
  area: 'chat',
  phase: 'accepted',
  exercises: ['CHAT-001', 'CHAT-030'],
  cost: cost(2, 2),
  async run(context) {
    for (const step of ['first on a connection', 'second on a connection']) {
      await context.send({ ...valid(step, fullRequest(context)), connection: 'kept' });
    }
  },
};

const OVERLAPPING = 8;

/** Sessions of their own at once, each with a reference number that no other session says. */
const overlap: Probe = {
  id: 'chat/overlap',
  area: 'chat',
  phase: 'accepted',
  exercises: ['CHAT-014', 'CHAT-030', 'CHAT-050'],
  cost: cost(OVERLAPPING, OVERLAPPING),
  async run(context) {
    const requests = Array.from({ length: OVERLAPPING }, (_, index) => {
      const marker = `SK${context.random.id(10).toUpperCase()}`;
      const opening = user(`My reference number is ${marker}.`);
      const thanks: ChatMessage = { role: 'assistant', content: 'Thank you.' };
      const messages =
        index % 2 === 0
          ? [user(`My reference number is ${marker}. Where is my order?`)]
          : [opening, thanks, user(`And where is my order, ${marker}?`)];
      return { ...fullRequest(context), messages };
    });
    await Promise.all(requests.map((request) => context.send(valid('overlap', request))));
  },
};

const prompts: Probe = {
  id: 'chat/prompts',
  area: 'chat',
  phase: 'accepted',
  exercises: [
    ...(['CHAT-040', 'CHAT-041', 'CHAT-042', 'CHAT-043', 'CHAT-044'] as const),
    ...(['CHAT-045', 'CHAT-046', 'CHAT-047', 'CHAT-048'] as const),
  ],
  cost: (texts) => ({ requests: texts.length, modelCalls: texts.length, users: 0, calls: 0 }),
  async run(context) {
    const requests = context.prompts.map((text) => ({
      ...fullRequest(context),
      messages: [user(text)],
    }));
    await Promise.all(requests.map((request) => context.send(valid('prompt', request))));
  },
};

const after: Probe = {
  id: 'chat/after',
  area: 'chat',
  phase: 'after',
  exercises: ['CHAT-013'],
  cost: cost(2, 2),
  async run(context) {
    const long = longId(context);
    await Promise.all([
      context.send(valid('after refusals', fullRequest(context))),
      ...(long === undefined
        ? []
        : [
            context.send(
              valid('64-character user_id', { messages: [user(GREETING)], user_id: long }),
            ),
          ]),
    ]);
  },
};

/** The longest user id there is: of a user that exists, or any where users are not created. */
function longId({ users, random }: ProbeContext): string | undefined {
  if (users.isUnsupported) return random.id(userIdLengthMax);
  return [...users.existing].find((id) => id.length === userIdLengthMax);
}

/** The scenarios of `POST /v1/chat/completions`. */
export const chatScenarios: readonly Probe[] = [
  probe,
  forms,
  contents,
  conversation,
  connection,
  overlap,
  prompts,
  refusals,
  silences,
  after,
];
