/** What `simulate` says before a run that it will cost. */
import t from 'tap';
import type { EvalDefinition } from '../../../../src/contract/index.ts';
import { describeCost, estimateCost, resolveScenarios } from '../../../../src/service/index.ts';
import { makeScenario } from '../../../support/sessions/scenarios.ts';

const judge: EvalDefinition = {
  id: 'j',
  name: 'J',
  kind: 'judge',
  params: { criteria: 'It is polite.' },
};

void t.test(
  'turns are limited by the scenario, and a scripted user has no more than its lines',
  (t) => {
    const scenarios = resolveScenarios(
      [
        makeScenario({ id: 'default' }),
        makeScenario({ id: 'limited', limits: { max_turns: 4 }, samples: 3 }),
        makeScenario({
          id: 'scripted',
          user: { mode: 'scripted', opening: 'Hi', steps: [{ say: 'Bye' }], speaks_first: false },
        }),
      ],
      { personas: [], evals: [] },
    );
    const cost = estimateCost({ scenarios });
    t.same(cost, { calls: 0, turns: 10 + 3 * 4 + 3, userModelRequests: 0, judgeRequests: 0 });
    t.equal(describeCost(cost), 'At most 25 turns, which reach the model of the sandbox.');
    t.equal(
      describeCost({ ...cost, turns: 1 }),
      'At most 1 turn, which reaches the model of the sandbox.',
    );
    t.equal(estimateCost({ scenarios, samples: 2 }).turns, 2 * (10 + 4 + 3));
    t.end();
  },
);

void t.test('calls, the model of the users, and the LLM judge are counted', (t) => {
  const scenarios = resolveScenarios(
    [
      makeScenario({ id: 'caller', channel: 'voice', evals: ['j'] }),
      makeScenario({
        id: 'llm',
        samples: 2,
        limits: { max_turns: 5 },
        evals: ['j'],
        user: { mode: 'llm', goal: 'Get a refund.' },
      }),
    ],
    { personas: [], evals: [judge] },
  );
  const cost = estimateCost({ scenarios });
  t.same(cost, { calls: 1, turns: 20, userModelRequests: 12, judgeRequests: 3 });
  t.equal(
    describeCost(cost),
    'Places 1 call. At most 20 turns, which reach the model of the sandbox, and at most 12 requests to ' +
      'the model of the users and 3 requests to the LLM judge.',
  );
  t.equal(estimateCost({ scenarios, channel: 'voice' }).calls, 3);
  t.end();
});
