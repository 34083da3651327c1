/** What a run sends to `POST /v1/chat/completions`, in the order it is sent. */
import {
  type ChatMessage,
  resolvePointer,
  USER_ID_LENGTH_MAX,
} from '../../../src/contract/index.ts';
import { cost } from '../../engine/probe.ts';
import { isAccepted, PREFLIGHT } from '../../engine/transcript/reading.ts';
import type { SandboxContext, SandboxProbe } from '../sandbox-state.ts';
import { createSessionUser } from '../users/requests.ts';
import { bodyStep, OPEN_BODY_BYTES } from './body-sizes.ts';
import { lookForKeyScheme } from './key-scheme.ts';
import { malformed } from './malformed.ts';
import { extendTo } from './request-draft.ts';
import {
  fullRequest,
  GREETING,
  knownMetadata,
  omitField,
  open,
  otherMetadata,
  REFERENCE_PHRASE,
  SAME_SESSION,
  user,
  valid,
} from './requests.ts';
import { GENERATED_CHATS, sweepChats } from './sweep.ts';
import { lookForUnprefixed } from './unprefixed.ts';

type ChatProbe = Omit<SandboxProbe, 'exercises'>;

const preflight: ChatProbe = {
  id: PREFLIGHT,
  area: 'chat',
  phase: 'preflight',
  cost: cost(1, 1),
  async run(context) {
    const minimal = valid('minimal', { messages: [user(GREETING)] });
    const exchange = await context.send(minimal);
    await lookForUnprefixed(context, exchange, minimal.body);
    await lookForKeyScheme(context, exchange, minimal.body);
  },
};

const forms: ChatProbe = {
  id: 'chat/forms',
  area: 'chat',
  phase: 'accepted',
  cost: cost(8, 8),
  async run(context) {
    const messages = [user(GREETING)];
    const steps = [
      valid('full', fullRequest(context)),
      valid('without user_id', omitField(fullRequest(context), 'user_id')),
      valid('without session_id', omitField(fullRequest(context), 'session_id')),
      valid('without metadata', omitField(fullRequest(context), 'metadata')),
      // Some languages treat this string as false or, as a key, as a number. Without a user, it can't
      // be the session of somebody else.
      valid('only session_id', { messages, session_id: '0' }),
      valid('known metadata', { messages, metadata: knownMetadata }),
      valid('only other metadata', { messages, metadata: otherMetadata }),
      ...(context.users.chatAs === undefined
        ? []
        : [valid('only user_id', { messages, user_id: context.users.chatAs })]),
    ];
    await Promise.all(steps.map((step) => context.send(step)));
  },
};

/** Requests that combine everything that the specification allows. */
const generated: ChatProbe = {
  id: 'chat/generated',
  area: 'chat',
  phase: 'accepted',
  cost: cost(GENERATED_CHATS, GENERATED_CHATS),
  run: sweepChats,
};

const lines = [
  'Hello, I have a question about an order.',
  'Its number is A-1001.',
  'Thank you, that is all.',
];

/** One session of several turns, with the actual replies of the agent as its history. */
const conversation: ChatProbe = {
  id: 'chat/conversation',
  area: 'chat',
  phase: 'accepted',
  cost: cost(lines.length, lines.length),
  async run(context) {
    const request = fullRequest(context);
    const messages: ChatMessage[] = [];
    for (const line of lines) {
      messages.push(user(line));
      const reply = await context.send(valid('turn', { ...request, messages: [...messages] }));
      const content = resolvePointer(reply?.json, '/choices/0/message/content');
      if (typeof content !== 'string') return;
      messages.push({ role: 'assistant', content });
    }
  },
};

/** Two sessions in sequence on one keep-alive connection. */
const connection: ChatProbe = {
  id: 'chat/connection',
  area: 'chat',
  phase: 'accepted',
  cost: cost(2, 2),
  async run(context) {
    for (const step of ['first on a connection', 'second on a connection'] as const) {
      await context.send({ ...valid(step, fullRequest(context)), connection: 'keep-alive' });
    }
  },
};

const CONCURRENT_SESSIONS = 5;

const createMarker = ({ random }: SandboxContext): string => `SK${random.id(10).toUpperCase()}`;

/** Runs concurrent sessions. Each has a separate user and a unique reference number. */
const overlap: ChatProbe = {
  id: 'chat/overlap',
  area: 'chat',
  phase: 'accepted',
  cost: cost(2 * CONCURRENT_SESSIONS + 2, CONCURRENT_SESSIONS + 2, CONCURRENT_SESSIONS),
  async run(context) {
    const requests = Array.from({ length: CONCURRENT_SESSIONS }, (_, index) => {
      const marker = createMarker(context);
      const opening = user(`${REFERENCE_PHRASE} ${marker}.`);
      const thanks: ChatMessage = { role: 'assistant', content: 'Thank you.' };
      const messages =
        index % 2 === 0
          ? [user(`${REFERENCE_PHRASE} ${marker}. Where is my order?`)]
          : [opening, thanks, user(`And where is my order, ${marker}?`)];
      return { ...fullRequest(context), messages };
    });
    // Memory per user is legal, so only sessions of different users show a mix-up.
    const users = await Promise.all(requests.map(() => createSessionUser(context)));
    await Promise.all(
      requests.map((request, index) => {
        const userId = users[index];
        const named = userId === undefined ? request : { ...request, user_id: userId };
        return context.send({ ...valid('overlap', named), order: 'together' });
      }),
    );
    const twins = ['Where is my order?', 'When does it arrive?'];
    const shared = fullRequest(context);
    await Promise.all(
      twins.map((text) => {
        const step = valid(SAME_SESSION, { ...shared, messages: [user(text)] });
        return context.send({ ...step, order: 'together', atOnce: twins.length });
      }),
    );
  },
};

/** Two callers without a user and a session, one after the other; the second asks what the first said. */
const anonymous: ChatProbe = {
  id: 'chat/anonymous',
  area: 'chat',
  phase: 'accepted',
  cost: cost(2, 2),
  async run(context) {
    const note = user(`Please note: my voucher is ${createMarker(context)}.`);
    await context.send(valid('anonymous', { messages: [note] }));
    const question = user('Which voucher did I mention before?');
    await context.send(valid('next anonymous', { messages: [question] }));
  },
};

const prompts: ChatProbe = {
  id: 'chat/prompts',
  area: 'chat',
  phase: 'accepted',
  cost: (texts) => ({ requests: texts.length, modelCalls: texts.length, users: 0, calls: 0 }),
  async run(context) {
    const requests = context.prompts.map((text) => ({
      ...fullRequest(context),
      messages: [user(text)],
    }));
    await Promise.all(requests.map((request) => context.send(valid('prompt', request))));
  },
};

/** Malformed requests, each one edit away from a valid one. */
const refusals: ChatProbe = {
  id: 'chat/refusals',
  area: 'chat',
  phase: 'refused',
  cost: cost(Object.keys(malformed.edits).length + 1, 1),
  async run(context) {
    const request = fullRequest(context);
    const control = await context.send(valid('control', request));
    if (!control) return;
    await Promise.all(
      Object.entries(malformed.edits).map(([step, { edit }]) =>
        context.send({ endpoint: 'chat', step, intent: 'refuse', control, body: edit(request) }),
      ),
    );
  },
};

/** Requests whose response the specification leaves open; the report lists what was observed. */
const silences: ChatProbe = {
  id: 'chat/silences',
  area: 'chat',
  phase: 'refused',
  cost: cost(6, 6),
  async run(context) {
    const request = fullRequest(context);
    const parts = [{ role: 'user', content: [{ type: 'text', text: GREETING }] }];
    await Promise.all(
      [
        open('no key', request, { key: 'none' }),
        open('empty messages', { ...request, messages: [] }),
        open('content in parts', { ...request, messages: parts }),
        open('user_id a number', { ...request, user_id: 7 }),
        open('metadata a string', { ...request, metadata: 'evening' }),
        open('content type text/plain', request, { headers: { 'content-type': 'text/plain' } }),
      ].map((step) => context.send(step)),
    );
  },
};

/** Larger bodies. The specification sets no limit; the report shows the largest accepted one. */
const sizes: ChatProbe = {
  id: 'chat/sizes',
  area: 'chat',
  phase: 'refused',
  cost: cost(2, 2),
  async run(context) {
    const send = async (bytes: number): Promise<boolean> => {
      const exchange = await context.send(
        open(bodyStep(bytes), extendTo(bytes, fullRequest(context))),
      );
      return exchange !== undefined && isAccepted(exchange);
    };
    const [smaller, middle, larger] = OPEN_BODY_BYTES;
    await send((await send(middle)) ? larger : smaller);
  },
};

const after: ChatProbe = {
  id: 'chat/after',
  area: 'chat',
  phase: 'after',
  cost: cost(3, 3),
  async run(context) {
    const long = longId(context);
    await Promise.all([
      sendAfterWrongKey(context),
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

/**
 * Sends a wrong key, and then a valid request on the same connection. A server that refuses a key
 * without reading the body may read the body as the next request.
 */
async function sendAfterWrongKey(context: SandboxContext): Promise<void> {
  const connection = 'keep-alive';
  const request = omitField(fullRequest(context), 'session_id');
  await context.send(open('wrong key', request, { key: 'wrong', connection }));
  await context.send({ ...valid('after refusals', fullRequest(context)), connection });
}

/** Returns a user id of maximum length: of an existing user, or a random one if users can't be created. */
function longId({ users, random }: SandboxContext): string | undefined {
  if (users.isUnsupported) return random.id(USER_ID_LENGTH_MAX);
  return [...users.existing].find((id) => id.length === USER_ID_LENGTH_MAX);
}

/** The probes of `POST /v1/chat/completions`. */
export const chatProbes: readonly ChatProbe[] = [
  preflight,
  forms,
  generated,
  conversation,
  connection,
  overlap,
  anonymous,
  prompts,
  refusals,
  silences,
  sizes,
  after,
];
