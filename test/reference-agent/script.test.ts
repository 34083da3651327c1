/** The reference agent replies by a script. */
import t from 'tap';
import { startAgent } from '../../reference-agent/index.ts';
import type { ChatResponse, ScriptRule } from '../../src/contract/index.ts';
import { manualClock } from '../../src/platform/manual-clock.ts';
import { assertResponse } from '../support/network/send.ts';
import {
  assertError,
  CHAT_ROUTE,
  makeChatRequest,
  withReferenceAgent,
} from '../support/sandboxes/reference-agent.ts';

const rules: ScriptRule[] = [
  { when: { contains: 'PARROT', turn: 2 }, reply: { content: 'It rests.' } },
  {
    when: { regex: '^is it (dead|gone)\\?$', metadata: { persona: 'angry' } },
    times: 1,
    reply: {
      content: 'No.',
      tool_calls: [{ name: 'look_at_parrot', arguments: { kind: 'blue' }, result: { ok: true } }],
      evaluation_metadata: { tone: 'dry' },
      delay_ms: 500,
    },
  },
];

void t.test(
  'script rules that match text, turn, and metadata come before the dialogue',
  async (t) => {
    const clock = manualClock(0);
    const { send } = await withReferenceAgent(t, { clock, script: { rules } });
    const replyTo = async (...texts: string[]): Promise<string> => {
      const { json } = await send(CHAT_ROUTE, { body: makeChatRequest(...texts) });
      return (json as ChatResponse).choices[0].message.content;
    };
    t.match(await replyTo('My parrot'), /not sure/, 'the turn does not match');
    t.equal(await replyTo('Hello', 'Hello', 'My parrot'), 'It rests.');
    t.match(await replyTo('Is it dead?'), /not sure/, 'the metadata does not match');

    const angry = {
      body: { ...makeChatRequest('Is it dead?'), metadata: { persona: 'angry', more: 1 } },
    };
    const answer = send(CHAT_ROUTE, angry);
    for (let isWaiting = true; isWaiting;) {
      clock.advance(500);
      isWaiting = await Promise.race([
        answer.then(() => false),
        send('GET /health').then(() => true),
      ]);
    }
    assertResponse(t, await answer, 200, 'ChatResponse');
    t.match((await answer).json, {
      choices: [
        {
          message: {
            content: 'No.',
            tool_calls: [{ function: { name: 'look_at_parrot', arguments: '{"kind":"blue"}' } }],
          },
        },
      ],
      metadata: { tools_used: ['look_at_parrot'] },
      evaluation_metadata: { tone: 'dry' },
    });
    t.match((await send(CHAT_ROUTE, angry)).text, /not sure/, 'the rule is used up');
  },
);

void t.test('a reset lets a rule that is used up apply again', async (t) => {
  const script = { rules: [{ times: 1, reply: { content: 'Once.' } }] };
  const { send } = await withReferenceAgent(t, { script });
  const reply = async (): Promise<string> =>
    (await send(CHAT_ROUTE, { body: makeChatRequest('Hello') })).text;
  t.match(await reply(), 'Once.');
  t.notMatch(await reply(), 'Once.');
  await send('POST /__admin/reset');
  t.match(await reply(), 'Once.');
});

void t.test(
  'a script pattern that backtracks almost forever does not block the agent',
  async (t) => {
    const script = { rules: [{ when: { regex: '(a+)+$' }, reply: { content: 'No.' } }] };
    const { send } = await withReferenceAgent(t, { script });
    const answer = await send(CHAT_ROUTE, { body: makeChatRequest(`${'a'.repeat(60)}!`) });
    assertError(t, answer, 500, 'server_error');
    t.match(answer.text, /regex of \/rules\/0 in the script took longer than 100 ms/);
    t.equal((await send('GET /health')).status, 200);
  },
);

void t.test('an invalid script in code is refused with its first problem', async (t) => {
  const reply = { content: 'x' };
  for (const [script, problem] of [
    [{}, 'script.rules must be an array of at most 1000, got nothing.'],
    [{ rules: [{}] }, 'script.rules[0].reply must be an object, got nothing.'],
    [{ rules: [{ reply, wen: {} }] }, 'Unknown key script.rules[0].wen. Did you mean when?'],
    [
      { rules: [{ reply, when: { regex: '(' } }] },
      'script.rules[0].when.regex must be a regular expression, got "(".',
    ],
    [
      { rules: [{ reply, times: 0 }, {}] },
      'script.rules[0].times must be an integer of at least 1, got 0.',
    ],
  ] as const) {
    await t.rejects(startAgent({ script: script as never }), {
      name: 'TypeError',
      message: `startAgent: ${problem}`,
    });
  }
});
