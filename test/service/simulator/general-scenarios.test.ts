/** The scenarios for any agent: a good agent passes them, and each weakness of others fails its own. */
import t, { type Test } from 'tap';
import { readScenarioSet } from '../../../library/input/scenario-files.ts';
import {
  startEcho,
  startModelAgent,
  startRecitingAgent,
  startRuleBot,
} from '../../support/sandboxes/foreign-agents.ts';
import { withReferenceAgent } from '../../support/sandboxes/reference-agent.ts';
import { reply, withSandboxDouble } from '../../support/sandboxes/sandbox-double.ts';
import { simulateOn } from '../../support/sessions/simulated-sessions.ts';

const set = readScenarioSet('general');

/** Returns the failed evals of an agent, by scenario. */
async function findFailures(t: Test, url: string): Promise<Record<string, string[]>> {
  const { sessions } = await simulateOn(t, url, set.scenarios, set);
  return Object.fromEntries(
    sessions.flatMap(({ scenario_id: id, eval_outcomes: outcomes }) => {
      const failed = outcomes.filter(({ outcome }) => outcome === 'fail');
      return failed.length === 0 ? [] : [[id, failed.map((each) => String(each['eval']))]];
    }),
  );
}

void t.test('every eval of the set has a reason', (t) => {
  const inline = set.scenarios.flatMap(({ evals = [] }) => evals);
  for (const definition of [...set.evals, ...inline]) {
    if (typeof definition !== 'string') t.type(definition.reason, 'string', definition.id);
  }
  t.end();
});

void t.test('the reference agent and an agent with a model pass all scenarios', async (t) => {
  const { agent } = await withReferenceAgent(t);
  t.same(await findFailures(t, agent.url), {});
  t.same(await findFailures(t, await startModelAgent(t)), {});
});

void t.test('an echo fails all scenarios to which it could reply with the same text', async (t) => {
  const failures = await findFailures(t, await startEcho(t));
  const passed = set.scenarios.map(({ id }) => id).filter((id) => !failures[id]);
  t.same(passed, ['blank-message', 'separate-sessions']);
  t.same(failures['greeting'], ['own-words']);
});

void t.test(
  'an agent that recites what the user said fails a third of the scenarios',
  async (t) => {
    const short = await findFailures(t, await startRecitingAgent(t, 'Hello! So far you told me:'));
    t.same(
      set.scenarios.map(({ id }) => id).filter((id) => !short[id]),
      ['blank-message', 'separate-sessions'],
    );
    const words =
      'Hello and welcome! Thank you for your message, which I read with great interest:';
    const long = await findFailures(t, await startRecitingAgent(t, words));
    t.same(long, {
      correction: ['answers-the-last-message'],
      'follow-up-question': ['own-words'],
      goodbye: ['own-words'],
      'other-words': ['own-words'],
      remembers: ['answers-the-last-message'],
    });
    t.ok(3 * Object.keys(long).length >= set.scenarios.length);
  },
);

void t.test(
  'a bot with rules fails where it should remember, and where it has one reply',
  async (t) => {
    t.same(await findFailures(t, await startRuleBot(t)), {
      correction: ['takes-the-correction'],
      'follow-up-question': ['states-no-confusion'],
      'long-message': ['reads-all'],
      'other-language': ['knows-the-language'],
      remembers: ['keeps-the-name'],
    });
  },
);

void t.test(
  'an agent with one conversation for all users does not keep sessions apart',
  async (t) => {
    const failures = await findFailures(t, await startModelAgent(t, { sharesHistory: true }));
    t.same(failures['separate-sessions'], ['keeps-sessions-apart']);
  },
);

void t.test('an agent without text in its replies fails every scenario', async (t) => {
  const { url } = await withSandboxDouble(t, { chat: reply(' ') });
  t.equal(Object.keys(await findFailures(t, url)).length, set.scenarios.length);
});
