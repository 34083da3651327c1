/** Whether simulated users followed their scenarios, on transcripts that the kit's own users would not produce. */
import t from 'tap';
import type { EndReason, Deviation, Scenario } from '../../../../src/contract/index.ts';
import { completeScenario } from '../../../../src/service/scenarios/complete-scenario.ts';
import { checkAdherence } from '../../../../src/service/simulator/adherence.ts';
import type { SimulatedTurn } from '../../../../src/service/turns/turn-types.ts';
import { makeUserScenario } from '../../../support/sessions/scenarios.ts';

/** Returns turns from lines that alternate between user and agent. */
function makeTurns(...lines: string[]): SimulatedTurn[] {
  return lines.flatMap((userInput, nth) =>
    nth % 2 === 1
      ? []
      : {
          sequence: nth / 2 + 1,
          userInput,
          agentResponse: lines[nth + 1] ?? '',
          userReason: '',
          toolCalls: [],
          latencyMs: 1,
          failed: false,
        },
  );
}

/** Returns a scenario of this user, in which every field with a default has a value. */
const makePlayed = (user: Scenario['user']) =>
  completeScenario({
    scenario: makeUserScenario(user),
    persona: { id: 'plain', name: 'plain' },
    evals: [],
  }).scenario;

const user: Scenario['user'] = {
  opening: 'Hello',
  facts: [{ name: 'number', value: 'A-1', asked_by: ['which one'], say: 'It is {value}.' }],
  steps: [{ when: { contains: 'found' }, say: 'Thanks.', otherwise: 'And?' }],
  reactions: [{ when: { contains: 'refund' }, say: 'No refund.' }],
};

type Row = [what: string, lines: string[], end: EndReason, findings: Partial<Deviation>[]];

const rows: Row[] = [
  [
    'follows the scenario',
    ['Hello', 'Which one?', 'It is A-1.', 'Found.', 'Thanks.', 'ok'],
    'goal_achieved',
    [],
  ],
  [
    'repeats a fact that the agent mentioned',
    ['Hello', 'Is it A-1?', 'It is A-1.', 'found', 'Thanks.', ''],
    'goal_achieved',
    [],
  ],
  ['waits and reacts', ['Hello', 'Hm', 'And?', 'A refund?', 'No refund.', 'Bye'], 'user_stop', []],
  [
    'states a fact unasked',
    ['Hello', 'Hi', 'It is A-1.', 'found', 'Thanks.', 'ok'],
    'goal_achieved',
    [{ rule: 'fact_unasked', turn: 2 }],
  ],
  [
    'says a line that is not in the scenario',
    ['Hello', 'Hi', 'Give me a discount.', ''],
    'user_stop',
    [{ rule: 'off_script', turn: 2 }],
  ],
  [
    'stops before its last step',
    ['Hello', 'Hi'],
    'goal_achieved',
    [{ rule: 'stopped_early', turn: 1 }],
  ],
];

void t.test(
  'every kind of deviation is found, and a user who follows the scenario has no findings',
  async (t) => {
    for (const [what, lines, endReason, findings] of rows) {
      const scenario = makePlayed(user);
      const adherence = await checkAdherence({ scenario, turns: makeTurns(...lines), endReason });
      t.match(adherence, { followed_scenario: findings.length === 0, findings }, what);
      t.equal(adherence.findings.length, findings.length, what);
    }
  },
);

void t.test('continuing after stop_when is met is a finding', async (t) => {
  const scenario = makePlayed({ opening: 'Hello', stop_when: [{ contains: 'done' }] });
  const turns = makeTurns('Hello', 'It is DONE.', 'Hello', 'Well?');
  const adherence = await checkAdherence({ scenario, turns, endReason: 'max_turns' });
  t.match(adherence, { followed_scenario: false, findings: [{ rule: 'went_on', turn: 2 }] });
  const last = await checkAdherence({
    scenario,
    turns: turns.slice(0, 1),
    endReason: 'goal_achieved',
  });
  t.ok(last.followed_scenario);
});

void t.test('a condition about a turn does not count interruptions', async (t) => {
  const scenario = makePlayed({
    opening: 'Hello',
    steps: [{ say: 'And?' }, { say: 'Bye' }],
    stop_when: [{ turn: 3 }],
    opening_delivery: { interrupt: { after_ms: 500, say: 'Wait' } },
  });
  const turns = makeTurns('Hello', 'Hi', 'Wait', 'Yes?', 'And?', 'Well', 'Bye', 'Bye').map(
    (turn) => ({ ...turn, interrupts: turn.userInput === 'Wait' }),
  );
  const adherence = await checkAdherence({ scenario, turns, endReason: 'goal_achieved' });
  t.same(adherence, { followed_scenario: true, findings: [] });
});
