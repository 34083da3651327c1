/** The general scenarios by voice with the shipped personas: how a user speaks does not fail a good agent. */
import t from 'tap';
import { assignPersona, readShippedPersonas } from '../../../library/input/personas.ts';
import { readScenarioSet } from '../../../library/input/scenario-files.ts';
import { withAgent } from '../../helpers/agent.ts';
import { atNight } from '../../helpers/nightly.ts';
import { runOnQuietMachine } from '../../helpers/quiet-machine.ts';
import { simulateOn } from '../../helpers/simulation.ts';

const { scenarios, evals } = readScenarioSet('general');
const byVoice = scenarios.filter(({ channel }) => channel !== 'chat');
const personas = readShippedPersonas();

/** Their evals are about one line, and this user interrupts. */
const interrupted = byVoice.filter(({ id }) => ['goodbye', 'remembers'].includes(id));
const rows = atNight(
  personas.map(({ id }) => [id, byVoice] as const),
  [['rushed', interrupted] as const],
);

for (const [id, some] of rows) {
  void t.test(`the reference agent passes with the persona ${id}`, async (t) => {
    const { agent } = await withAgent(t);
    const assigned = assignPersona(some, personas, id);
    if ('problem' in assigned) throw new Error(assigned.problem);
    const options = { personas, evals, seed: 'b7da86e2ee', channel: 'voice' } as const;
    const report = await runOnQuietMachine(
      t,
      () => simulateOn(t, agent.url, assigned.scenarios, options),
      ({ verdict }) => verdict === 'passed',
    );
    if (!report) return;
    t.equal(report.verdict, 'passed', JSON.stringify(report.sessions));
    const turns = report.sessions.flatMap(({ traces }) => traces);
    const interruptions = turns.filter(({ interrupts }) => interrupts).length;
    if (id === 'rushed') t.ok(interruptions > 0, 'the user interrupts');
    else t.equal(interruptions, 0);
  });
}
