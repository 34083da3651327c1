import t from 'tap';
import type { ChatRequest, ChatResponse } from '../../src/contract/index.ts';
import {
  makeChatRequest,
  CHAT_ROUTE,
  assertResponse,
  withAgent,
  type Answer,
} from '../helpers/agent.ts';

const said = ({ json }: Answer): string => (json as ChatResponse).choices[0].message.content;
const toolCalls = ({
  json,
}: Answer): NonNullable<ChatResponse['choices'][0]['message']['tool_calls']> =>
  (json as ChatResponse).choices[0].message.tool_calls ?? [];
const timeless = ({ text }: Answer): string => text.replace(/"response_time_ms":\d+/, '');

void t.test('the dialogue: what is asked, said, done and claimed', async (t) => {
  const { send } = await withAgent(t);
  const cases: {
    name: string;
    texts: string[];
    says: RegExp;
    tools: string[];
    hints: Record<string, unknown>;
  }[] = [
    {
      name: 'a greeting is returned',
      texts: ['Hello there'],
      says: /^Hello, welcome/,
      tools: [],
      hints: { tone: 'friendly', customer_acknowledged: true, tool_called: undefined },
    },
    {
      name: 'the status of an order is looked up and told',
      texts: ['Where is order A-1001?'],
      says: /A-1001 is shipped/,
      tools: ['look_up_order'],
      hints: {
        order_found: true,
        tool_called: 'look_up_order',
        tool_success: true,
        response_included_status: true,
        customer_informed: true,
        resolution_step: 1,
      },
    },
    {
      name: 'an unknown order is looked up and not found',
      texts: ['Where is order Z-9999?'],
      says: /can't find an order Z-9999/,
      tools: ['look_up_order'],
      hints: { order_found: false, tool_success: false, response_included_status: false },
    },
    {
      name: 'a refund looks the order up first',
      texts: ['Please refund order a-1003'],
      says: /refunded 36.90 euros for order A-1003/,
      tools: ['look_up_order', 'refund_order'],
      hints: { order_found: true, tool_called: 'refund_order', tool_success: true },
    },
    {
      name: 'a refund of an unknown order stops at the look-up',
      texts: ['Please refund order Z-9999'],
      says: /can't find/,
      tools: ['look_up_order'],
      hints: { order_found: false, tool_success: false },
    },
    {
      name: 'a cancelled order is not refunded',
      texts: ['Refund A-1004'],
      says: /A-1004 is cancelled/,
      tools: ['look_up_order', 'refund_order'],
      hints: { order_found: true, tool_success: false, response_included_status: true },
    },
    {
      name: 'the opening hours are told',
      texts: ['When do you open?'],
      says: /09:00 to 18:00/,
      tools: ['opening_hours'],
      hints: { tool_called: 'opening_hours', order_found: undefined, customer_informed: true },
    },
    {
      name: 'several things at once are done in order',
      texts: ['Refund A-1001 and A-1002, and when do you close?'],
      says: /A-1001.*A-1002.*We are open/,
      tools: ['look_up_order', 'refund_order', 'look_up_order', 'refund_order', 'opening_hours'],
      hints: { tool_success: true },
    },
    {
      name: 'an order that is not named is asked for',
      texts: ['I want my money back'],
      says: /Which order/,
      tools: [],
      hints: { customer_acknowledged: true, customer_informed: false, order_found: undefined },
    },
    {
      name: 'the number alone answers the question before it',
      texts: ['I want my money back', 'Which order would you like to return?', 'A-1002'],
      says: /refunded 42.00 euros/,
      tools: ['look_up_order', 'refund_order'],
      hints: { resolution_step: 2 },
    },
    {
      name: 'an order named earlier is remembered',
      texts: ['Where is order A-1003?', 'Order A-1003 is delivered.', 'Then refund it'],
      says: /refunded 36.90 euros for order A-1003/,
      tools: ['look_up_order', 'refund_order'],
      hints: { resolution_step: 2 },
    },
    {
      name: 'one who is upset is met with empathy',
      texts: ['This is unacceptable, where is order A-1002?'],
      says: /^I am sorry.*A-1002 is processing/,
      tools: ['look_up_order'],
      hints: { tone: 'empathetic' },
    },
    {
      name: 'thanks are returned',
      texts: ['Thank you!'],
      says: /welcome/,
      tools: [],
      hints: { tone: 'friendly' },
    },
    { name: 'so is a goodbye', texts: ['Bye'], says: /^Goodbye/, tools: [], hints: {} },
    {
      name: 'what is not understood is not claimed to be',
      texts: ['Colourless green ideas'],
      says: /not sure/,
      tools: [],
      hints: { customer_acknowledged: false, customer_informed: false },
    },
  ];
  for (const { name, texts, says, tools, hints } of cases) {
    await t.test(name, async (t) => {
      const answer = await send(CHAT_ROUTE, { body: makeChatRequest(...texts) });
      assertResponse(t, answer, 200, 'ChatResponse');
      t.match(said(answer), says);
      t.same(
        toolCalls(answer).map((call) => call.function.name),
        tools,
      );
      const { metadata, evaluation_metadata = {} } = answer.json as ChatResponse;
      t.same(metadata?.tools_used, [...new Set(tools)], 'tools_used says which tools ran');
      for (const [key, value] of Object.entries(hints))
        t.same(evaluation_metadata[key], value, key);
    });
  }
});

void t.test(
  'a tool call is complete: its own id, arguments as a string, result as an object',
  async (t) => {
    const { send } = await withAgent(t);
    const answer = await send(CHAT_ROUTE, { body: makeChatRequest('Refund A-1001') });
    const [lookUp, refund] = toolCalls(answer);
    t.same(JSON.parse(lookUp?.function.arguments ?? ''), { order_id: 'A-1001' });
    t.match(lookUp?.function.result, { found: true, status: 'shipped' });
    t.match(refund?.function.result, { refunded: true, amount: 18.5 });
    t.not(lookUp?.id, refund?.id);
  },
);

void t.test('a reply without tools has no tool calls', async (t) => {
  const { send } = await withAgent(t);
  const { text } = await send(CHAT_ROUTE, { body: makeChatRequest('Hello') });
  t.notMatch(text, 'tool_calls');
});

void t.test(
  'the scenario shows: persona, time of day, the name of a user who was created',
  async (t) => {
    const { send } = await withAgent(t);
    await send('POST /users', { body: { user_id: 'ada', profile: { name: 'Ada Example' } } });
    const hello = { ...makeChatRequest('Hello'), metadata: { time_of_day: 'evening' } };

    t.match(
      said(await send(CHAT_ROUTE, { body: { ...hello, user_id: 'ada' } })),
      /^Good evening Ada Ex/,
    );
    t.match(
      said(await send(CHAT_ROUTE, { body: { ...hello, user_id: 'bob' } })),
      /^Good evening, /,
    );
    const body = {
      ...makeChatRequest('Where is A-1001?'),
      metadata: { persona: 'impatient customer' },
    };
    t.match(said(await send(CHAT_ROUTE, { body })), /^I am sorry/);
    await send('DELETE /users/ada');
    t.notMatch(said(await send(CHAT_ROUTE, { body: { ...hello, user_id: 'ada' } })), 'Ada');
  },
);

void t.test('the same request gives the same bytes, apart from its time', async (t) => {
  const [one, other, seeded] = await Promise.all([
    withAgent(t),
    withAgent(t),
    withAgent(t, { seed: 'another' }),
  ]);
  const sending = { body: { ...makeChatRequest('Refund A-1001'), session_id: 's' } };
  const first = timeless(await one.send(CHAT_ROUTE, sending));
  t.equal(timeless(await one.send(CHAT_ROUTE, sending)), first);
  t.equal(timeless(await other.send(CHAT_ROUTE, sending)), first, 'also of another agent');
  t.not(timeless(await seeded.send(CHAT_ROUTE, sending)), first, 'but not of another seed');
});

void t.test('the chat id belongs to the conversation', async (t) => {
  const { send } = await withAgent(t);
  const chatId = async (body: ChatRequest): Promise<string | undefined> =>
    ((await send(CHAT_ROUTE, { body })).json as ChatResponse).chat_id;
  const [early, late] = [
    makeChatRequest('Hello'),
    makeChatRequest('Hello', 'Hello, welcome.', 'Thanks'),
  ];

  t.equal(await chatId({ ...early, session_id: 's' }), await chatId({ ...late, session_id: 's' }));
  t.equal(await chatId(early), await chatId(late), 'known by its first words without a session');
  t.not(await chatId({ ...early, session_id: 's' }), await chatId({ ...early, session_id: 'r' }));
  t.not(await chatId(early), await chatId(makeChatRequest('Good day')));
});

void t.test('conversations that overlap do not meet, in whatever order they arrive', async (t) => {
  const { send } = await withAgent(t);
  const requests = Array.from({ length: 50 }, (_, index) => ({
    body: {
      ...makeChatRequest(
        `Order A-100${(index % 4) + 1}, please`,
        'Yes?',
        `Refund it, customer ${index}`,
      ),
      session_id: `session-${index}`,
    },
  }));
  const alone: string[] = [];
  for (const request of requests) alone.push(timeless(await send(CHAT_ROUTE, request)));
  const together = await Promise.all(requests.toReversed().map((r) => send(CHAT_ROUTE, r)));

  t.same(together.map(timeless).toReversed(), alone);
  t.equal(new Set(together.map(({ json }) => (json as ChatResponse).chat_id)).size, 50);
});

void t.test('a session id that comes again starts afresh', async (t) => {
  const { send } = await withAgent(t);
  const session = { session_id: 'again' };
  await send(CHAT_ROUTE, { body: { ...makeChatRequest('Where is order A-1001?'), ...session } });
  const answer = await send(CHAT_ROUTE, { body: { ...makeChatRequest('Refund it'), ...session } });
  t.match(said(answer), /Which order/, 'what was said in another request is not known');
});
