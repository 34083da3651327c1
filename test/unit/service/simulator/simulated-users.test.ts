/** Scripted users and graph users: what they say and when they stop. */
import t, { type Test } from 'tap';
import type { Persona, Scenario, SimulatedSessionReport } from '../../../../src/contract/index.ts';
import {
  reply,
  respondWith,
  withSandboxDouble,
  type RouteBehavior,
} from '../../../support/sandboxes/sandbox-double.ts';
import { makeUserScenario } from '../../../support/sessions/scenarios.ts';
import { listUserLines, simulateSession } from '../../../support/sessions/simulated-sessions.ts';

/** Starts a sandbox that gives these replies in order and then repeats the last one. */
async function startWithReplies(t: Test, ...replies: (string | RouteBehavior)[]): Promise<string> {
  const { url, setBehavior } = await withSandboxDouble(t);
  let nth = 0;
  setBehavior({
    chat: (response, request) => {
      const next = replies[Math.min(nth, replies.length - 1)] ?? '';
      nth += 1;
      (typeof next === 'string' ? reply(next) : next)(response, request);
    },
  });
  return url;
}

async function talk(
  t: Test,
  user: object,
  replies: (string | RouteBehavior)[],
  more: Partial<Scenario> = {},
) {
  const session = await simulateSession(
    t,
    await startWithReplies(t, ...replies),
    makeUserScenario(user, more),
  );
  return { session, lines: listUserLines(session), end: session.end_reason };
}

const listScenarioLines = ({ traces }: SimulatedSessionReport): unknown[] =>
  traces.map(({ scenario_line: line }) => line);

void t.test(
  'a scripted user says its lines in order, no matter what the agent replies',
  async (t) => {
    const user = { mode: 'scripted', opening: 'One', steps: [{ say: 'Two' }, { say: 'Three' }] };
    const { lines, end, session } = await talk(t, user, ['Goodbye.', 'No.', '']);
    t.same(lines, ['One', 'Two', 'Three']);
    t.equal(end, 'goal_achieved');
    t.same(
      session.traces.map((turn) => turn.user_reason),
      ['opens the conversation', 'says line 2 of 3', 'says line 3 of 3'],
    );
  },
);

void t.test(
  'a step waits for its condition; until then the user sends `otherwise` or repeats the last line',
  async (t) => {
    const steps = [
      { when: { contains: 'ready' }, say: 'Thanks.', otherwise: 'And now?', reason: 'has it' },
      { when: { contains: 'welcome' }, say: 'Bye.' },
    ];
    const { lines, session } = await talk(t, { opening: 'Is it done?', steps }, [
      'Not yet.',
      'Wait.',
      'It is READY.',
      'Hm.',
      'You are welcome.',
      'Bye.',
    ]);
    t.same(lines, ['Is it done?', 'And now?', 'And now?', 'Thanks.', 'Thanks.', 'Bye.']);
    t.equal(session.traces[3]?.user_reason, 'has it');
    t.equal(session.traces[4]?.user_reason, 'waits for the condition of step 2');
    t.same(listScenarioLines(session), [1, 1, 1, 2, 2, 3], 'repeated lines are no new lines');
  },
);

void t.test('facts are stated when the agent asks, and not before', async (t) => {
  const facts = [
    { name: 'order number', value: 'A-1', asked_by: ['which order'], say: 'It is {value}.' },
    { name: 'postcode', value: '8000' },
    { name: 'secret', value: 'hush' },
  ];
  const steps = [{ when: { contains: 'found' }, say: 'Great.' }];
  const { lines, end, session } = await talk(t, { opening: 'Help me.', facts, steps }, [
    'Which order, and what is your Postcode?',
    'Which order was it again?',
    'I found it.',
    'Good.',
  ]);
  t.same(lines, ['Help me.', 'It is A-1. 8000', 'It is A-1.', 'Great.']);
  t.equal(end, 'goal_achieved');
  t.equal(session.traces[1]?.user_reason, 'is asked for: order number, postcode');
  t.same(listScenarioLines(session), [1, 1, 1, 2], 'facts belong to the line before them');
  t.ok(session.review.followed_scenario, 'the user did not state the secret');
});

void t.test('a reaction takes precedence over facts and steps, up to its limit', async (t) => {
  const reactions = [
    { when: { contains: 'refund' }, say: 'I want no refund.', times: 2 },
    { when: { contains: 'idiot' }, say: 'How rude!', stop: true },
  ];
  const user = { opening: 'Hi', reactions, steps: [{ say: 'Go on.' }, { say: 'More.' }] };
  const result = await talk(t, user, ['A refund?', 'Refund!', 'refund', 'You idiot.', 'Sorry.']);
  t.same(result.lines, ['Hi', 'I want no refund.', 'I want no refund.', 'Go on.', 'How rude!']);
  t.equal(result.end, 'user_stop', 'a reaction with stop ends the conversation');
});

void t.test('stop_when takes precedence over everything else', async (t) => {
  const user = {
    opening: 'Hi',
    steps: [{ say: 'Never said.' }],
    stop_when: [{ contains_any: ['anything else', 'all set'] }],
  };
  const { lines, end, session } = await talk(t, user, ['You are ALL SET.']);
  t.same(lines, ['Hi']);
  t.equal(end, 'goal_achieved');
  t.ok(session.review.followed_scenario);
});

void t.test('conditions support contains, lacks, matches, tool_called, and turn', async (t) => {
  const withTool = respondWith(200, {
    choices: [
      {
        message: {
          role: 'assistant',
          content: 'Found it.',
          tool_calls: [{ id: '1', type: 'function', function: { name: 'look', arguments: '{}' } }],
        },
      },
    ],
  });
  const steps = [
    { when: { tool_called: 'look' }, say: 'tool' },
    { when: { lacks: 'sorry' }, say: 'lacks' },
    { when: { matches: '^order [a-z]-\\d+$' }, say: 'matches' },
    { when: { turn: 7 }, say: 'seventh' },
  ];
  const replies = ['Found it.', withTool, 'Sorry.', 'Fine.', 'no order', 'Order A-1', 'x'];
  const { lines } = await talk(t, { opening: '1', steps }, replies);
  t.same(lines, ['1', '1', 'tool', 'tool', 'lacks', 'lacks', 'matches', 'seventh']);
});

void t.test('a pattern with endless backtracking ends the session, not the kit', async (t) => {
  const steps = [{ when: { matches: '^(a+)+$' }, say: 'x' }];
  const { end, session } = await talk(t, { opening: 'Hi', steps }, [`${'a'.repeat(40)}!`]);
  t.equal(end, 'simulator_error');
  t.match(session, { status: 'failed', error: /pattern of the scenario was stopped/ });
});

void t.test('`next` selects the next step', async (t) => {
  const steps = [
    { id: 'one', say: 'One', next: 'three' },
    { id: 'two', say: 'Two' },
    { id: 'three', say: 'Three', next: 'two' },
  ];
  const { lines, end, session } = await talk(t, { opening: '0', steps }, ['ok'], {
    limits: { max_turns: 6 },
  });
  t.same(listScenarioLines(session), [1, 2, 4, 3, 4, 3]);
  t.same(lines, ['0', 'One', 'Three', 'Two', 'Three', 'Two']);
  t.equal(end, 'max_turns', 'max_turns ends a loop');
});

void t.test('the agent may speak first, even by chat', async (t) => {
  const user = { speaks_first: false, opening: 'Thanks. Where is it?', steps: [{ say: 'Bye.' }] };
  const first = await talk(t, user, ['Hello, how can I help?', 'There.', 'Bye.']);
  t.same(first.lines, ['', 'Thanks. Where is it?', 'Bye.']);
  t.equal(first.session.traces[0]?.agent_response, 'Hello, how can I help?');
  t.same(listScenarioLines(first.session), [1, 2, 3], 'the greeting is the first line');
  const greeting = [{ role: 'assistant' as const, content: 'Welcome!' }];
  const afterGreeting = await talk(t, user, ['There.', 'Bye.'], { initial_messages: greeting });
  t.same(
    afterGreeting.lines,
    ['Thanks. Where is it?', 'Bye.'],
    'the user does not wait if the history has a greeting',
  );
  t.same(listScenarioLines(afterGreeting.session), [1, 2]);
});

void t.test('the user gives up after `patience_turns` unhelpful replies in a row', async (t) => {
  const persona: Persona = { id: 'p', name: 'Short of time', patience_turns: 2 };
  const steps = [
    { when: { contains: 'one' }, say: 'Good.' },
    { when: { contains: 'two' }, say: 'Better.' },
  ];
  const replies = ['no', 'one', 'no', 'no', 'no'];
  const { lines, end } = await talk(t, { opening: 'Hi', steps }, replies, { persona });
  t.same(lines, ['Hi', 'Hi', 'Good.', 'Good.']);
  t.equal(end, 'user_stop');
});

void t.test(
  'without patience_turns, the user gives up after three unhelpful replies',
  async (t) => {
    const steps = [{ when: { contains: 'one' }, say: 'Good.' }];
    const { lines, end } = await talk(t, { opening: 'Hi', steps }, ['no', 'no', 'no', 'no']);
    t.same(lines, ['Hi', 'Hi', 'Hi']);
    t.equal(end, 'user_stop');
  },
);

void t.test('repeated goodbyes of the agent end the conversation', async (t) => {
  const steps = [{ when: { contains: 'order' }, say: 'Thanks.' }];
  const { lines, end, session } = await talk(t, { opening: 'Where is it?', steps }, ['Goodbye!']);
  t.same(
    lines,
    ['Where is it?', 'Where is it?'],
    'the user repeats its line after the first goodbye',
  );
  t.equal(end, 'agent_ended');
  t.equal(session.status, 'completed');
});
