/** Starter scenarios by voice with the reference agent. */
import t from 'tap';
import { readScenarioSet } from '../../../library/input/scenario-files.ts';
import { runOnQuietMachine } from '../../support/measurements/quiet-machine.ts';
import { atNight } from '../../support/nightly.ts';
import { withReferenceAgent } from '../../support/sandboxes/reference-agent.ts';
import { simulateOn } from '../../support/sessions/simulated-sessions.ts';

void t.test('a voice scenario passes with the same lines and responses as by chat', async (t) => {
  const { agent } = await withReferenceAgent(t);
  const { scenarios, personas, evals } = readScenarioSet(
    atNight(
      ['refund-canceled', 'two-orders', 'upset-customer', 'remembers', 'separate-sessions'],
      ['two-orders'],
    ),
  );
  const rest = { personas, evals, seed: 'one' };
  const chat = await simulateOn(t, agent.url, scenarios, { ...rest, channel: 'chat' });
  // On a busy machine, the two sides can talk over each other.
  const voice = await runOnQuietMachine(
    t,
    () => simulateOn(t, agent.url, scenarios, { ...rest, channel: 'voice' }),
    ({ verdict, sessions }) =>
      verdict === 'passed' && sessions.every(({ notes }) => notes.length === 0),
  );
  if (!voice) return;
  t.equal(voice.verdict, 'passed', JSON.stringify(voice.sessions));
  for (const [nth, session] of voice.sessions.entries()) {
    t.match(session, { channel: 'voice', notes: [], review: { followed_scenario: true } });
    t.same(session.traces, chat.sessions[nth]?.traces, 'including tool calls');
    t.same(session.eval_outcomes, chat.sessions[nth]?.eval_outcomes);
  }
});
