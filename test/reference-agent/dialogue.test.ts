import t from 'tap';
import type { ChatRequest, ChatResponse } from '../../src/contract/index.ts';
import { assertResponse, type HttpResponse } from '../support/network/send.ts';
import {
  CHAT_ROUTE,
  makeChatRequest,
  withReferenceAgent,
} from '../support/sandboxes/reference-agent.ts';

const replyOf = ({ json }: HttpResponse): string =>
  (json as ChatResponse).choices[0].message.content;
const toolCalls = ({
  json,
}: HttpResponse): NonNullable<ChatResponse['choices'][0]['message']['tool_calls']> =>
  (json as ChatResponse).choices[0].message.tool_calls ?? [];
const textWithoutTime = ({ text }: HttpResponse): string =>
  text.replace(/"response_time_ms":\d+/, '');

void t.test(
  'the dialogue gives the expected reply, tool calls, and evaluation metadata',
  async (t) => {
    const { send } = await withReferenceAgent(t);
    const cases: {
      name: string;
      texts: string[];
      reply: RegExp;
      tools: string[];
      hints: Record<string, unknown>;
    }[] = [
      {
        name: 'a greeting is returned',
        texts: ['Hello there'],
        reply: /^Hello, welcome/,
        tools: [],
        hints: { tone: 'friendly', customer_acknowledged: true, tool_called: undefined },
      },
      {
        name: 'an order status is looked up',
        texts: ['Where is order A-1001?'],
        reply: /A-1001 is shipped/,
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
        reply: /can't find an order Z-9999/,
        tools: ['look_up_order'],
        hints: { order_found: false, tool_success: false, response_included_status: false },
      },
      {
        name: 'a refund first looks up the order',
        texts: ['Please refund order a-1003'],
        reply: /refunded 36.90 euros for order A-1003/,
        tools: ['look_up_order', 'refund_order'],
        hints: { order_found: true, tool_called: 'refund_order', tool_success: true },
      },
      {
        name: 'an unknown order is not refunded',
        texts: ['Please refund order Z-9999'],
        reply: /can't find/,
        tools: ['look_up_order'],
        hints: { order_found: false, tool_success: false },
      },
      {
        name: 'a canceled order is not refunded',
        texts: ['Refund A-1004'],
        reply: /A-1004 is canceled/,
        tools: ['look_up_order', 'refund_order'],
        hints: { order_found: true, tool_success: false, response_included_status: true },
      },
      {
        name: 'a question about opening hours is answered',
        texts: ['When do you open?'],
        reply: /09:00 to 18:00/,
        tools: ['opening_hours'],
        hints: { tool_called: 'opening_hours', order_found: undefined, customer_informed: true },
      },
      {
        name: 'several requests in one message are handled in order',
        texts: ['Refund A-1001 and A-1002, and when do you close?'],
        reply: /A-1001.*A-1002.*We are open/,
        tools: ['look_up_order', 'refund_order', 'look_up_order', 'refund_order', 'opening_hours'],
        hints: { tool_success: true },
      },
      {
        name: 'the agent asks for a missing order number',
        texts: ['I want my money back'],
        reply: /Which order/,
        tools: [],
        hints: { customer_acknowledged: true, customer_informed: false, order_found: undefined },
      },
      {
        name: 'an order number alone answers the previous question',
        texts: ['I want my money back', 'Which order would you like to return?', 'A-1002'],
        reply: /refunded 42.00 euros/,
        tools: ['look_up_order', 'refund_order'],
        hints: { resolution_step: 2 },
      },
      {
        name: 'an earlier order number is remembered',
        texts: ['Where is order A-1003?', 'Order A-1003 is delivered.', 'Then refund it'],
        reply: /refunded 36.90 euros for order A-1003/,
        tools: ['look_up_order', 'refund_order'],
        hints: { resolution_step: 2 },
      },
      {
        name: 'an upset user gets an empathetic reply',
        texts: ['This is unacceptable, where is order A-1002?'],
        reply: /^I am sorry.*A-1002 is processing/,
        tools: ['look_up_order'],
        hints: { tone: 'empathetic' },
      },
      {
        name: 'thanks are returned',
        texts: ['Thank you!'],
        reply: /welcome/,
        tools: [],
        hints: { tone: 'friendly' },
      },
      { name: 'a goodbye is returned', texts: ['Bye'], reply: /^Goodbye/, tools: [], hints: {} },
      {
        name: 'a message that is not understood is neither acknowledged nor answered',
        texts: ['Colourless green ideas'],
        reply: /not sure/,
        tools: [],
        hints: { customer_acknowledged: false, customer_informed: false },
      },
    ];
    for (const { name, texts, reply, tools, hints } of cases) {
      await t.test(name, async (t) => {
        const answer = await send(CHAT_ROUTE, { body: makeChatRequest(...texts) });
        assertResponse(t, answer, 200, 'ChatResponse');
        t.match(replyOf(answer), reply);
        t.same(
          toolCalls(answer).map((call) => call.function.name),
          tools,
        );
        const { metadata, evaluation_metadata = {} } = answer.json as ChatResponse;
        t.same(metadata?.tools_used, [...new Set(tools)], 'tools_used lists the tools');
        for (const [key, value] of Object.entries(hints))
          t.same(evaluation_metadata[key], value, key);
      });
    }
  },
);

void t.test(
  'a tool call has a unique id, its arguments as a string, and its result as an object',
  async (t) => {
    const { send } = await withReferenceAgent(t);
    const answer = await send(CHAT_ROUTE, { body: makeChatRequest('Refund A-1001') });
    const [lookUp, refund] = toolCalls(answer);
    t.same(JSON.parse(lookUp?.function.arguments ?? ''), { order_id: 'A-1001' });
    t.match(lookUp?.function.result, { found: true, status: 'shipped' });
    t.match(refund?.function.result, { refunded: true, amount: 18.5 });
    t.not(lookUp?.id, refund?.id);
  },
);

void t.test('a reply without tools has no tool calls', async (t) => {
  const { send } = await withReferenceAgent(t);
  const { text } = await send(CHAT_ROUTE, { body: makeChatRequest('Hello') });
  t.notMatch(text, 'tool_calls');
});

void t.test(
  'the reply depends on the persona, the time of day, and the name of a created user',
  async (t) => {
    const { send } = await withReferenceAgent(t);
    await send('POST /users', { body: { user_id: 'ada', profile: { name: 'Ada Example' } } });
    const hello = { ...makeChatRequest('Hello'), metadata: { time_of_day: 'evening' } };

    t.match(
      replyOf(await send(CHAT_ROUTE, { body: { ...hello, user_id: 'ada' } })),
      /^Good evening Ada Ex/,
    );
    t.match(
      replyOf(await send(CHAT_ROUTE, { body: { ...hello, user_id: 'bob' } })),
      /^Good evening, /,
    );
    const body = {
      ...makeChatRequest('Where is A-1001?'),
      metadata: { persona: 'impatient customer' },
    };
    t.match(replyOf(await send(CHAT_ROUTE, { body })), /^I am sorry/);
    await send('DELETE /users/ada');
    t.notMatch(replyOf(await send(CHAT_ROUTE, { body: { ...hello, user_id: 'ada' } })), 'Ada');
  },
);

void t.test('the same request gets the same response except for its duration', async (t) => {
  const [first, second, seeded] = await Promise.all([
    withReferenceAgent(t),
    withReferenceAgent(t),
    withReferenceAgent(t, { seed: 'another' }),
  ]);
  const request = { body: { ...makeChatRequest('Refund A-1001'), session_id: 's' } };
  const text = textWithoutTime(await first.send(CHAT_ROUTE, request));
  t.equal(textWithoutTime(await first.send(CHAT_ROUTE, request)), text);
  t.equal(textWithoutTime(await second.send(CHAT_ROUTE, request)), text, 'from another agent, too');
  t.not(textWithoutTime(await seeded.send(CHAT_ROUTE, request)), text, 'but not with another seed');
});

void t.test('all requests of a conversation get the same chat id', async (t) => {
  const { send } = await withReferenceAgent(t);
  const chatId = async (body: ChatRequest): Promise<string | undefined> =>
    ((await send(CHAT_ROUTE, { body })).json as ChatResponse).chat_id;
  const [early, late] = [
    makeChatRequest('Hello'),
    makeChatRequest('Hello', 'Hello, welcome.', 'Thanks'),
  ];

  t.equal(await chatId({ ...early, session_id: 's' }), await chatId({ ...late, session_id: 's' }));
  t.equal(
    await chatId(early),
    await chatId(late),
    'without a session id, the first message identifies the conversation',
  );
  t.not(await chatId({ ...early, session_id: 's' }), await chatId({ ...early, session_id: 'r' }));
  t.not(await chatId(early), await chatId(makeChatRequest('Good day')));
});

void t.test('concurrent conversations do not affect each other', async (t) => {
  const { send } = await withReferenceAgent(t);
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
  const sequential: string[] = [];
  for (const request of requests) sequential.push(textWithoutTime(await send(CHAT_ROUTE, request)));
  const concurrent = await Promise.all(
    requests.toReversed().map((request) => send(CHAT_ROUTE, request)),
  );

  t.same(concurrent.map(textWithoutTime).toReversed(), sequential);
  t.equal(new Set(concurrent.map(({ json }) => (json as ChatResponse).chat_id)).size, 50);
});

void t.test('a repeated session id does not recall earlier requests', async (t) => {
  const { send } = await withReferenceAgent(t);
  const session = { session_id: 'again' };
  await send(CHAT_ROUTE, { body: { ...makeChatRequest('Where is order A-1001?'), ...session } });
  const answer = await send(CHAT_ROUTE, { body: { ...makeChatRequest('Refund it'), ...session } });
  t.match(replyOf(answer), /Which order/, 'the order of the earlier request is unknown');
});
