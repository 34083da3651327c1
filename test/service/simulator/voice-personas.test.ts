/** `simulate --voice --persona`: how a user speaks does not fail a good agent in the general scenarios. */
import { join } from 'node:path';
import t from 'tap';
import { readShippedPersonas } from '../../../library/input/personas.ts';
import { run } from '../../support/commands/command.ts';
import { readSimulationReport } from '../../support/commands/simulate-command.ts';
import { runOnQuietMachine } from '../../support/measurements/quiet-machine.ts';
import { atNight } from '../../support/nightly.ts';
import { withReferenceAgent } from '../../support/sandboxes/reference-agent.ts';

/** At a push, the user who interrupts, in scenarios whose evals are about one line. */
const personas = atNight(
  readShippedPersonas().map(({ id }) => id),
  ['rushed'],
);
const selection = atNight([], ['--scenario', 'goodbye', '--scenario', 'remembers']);

for (const persona of personas) {
  void t.test(`the reference agent passes with the persona ${persona}`, async (t) => {
    const { agent } = await withReferenceAgent(t);
    const json = join(t.testdir(), 'run.json');
    const users = ['--voice', '--persona', persona, '--seed', 'b7da86e2ee', ...selection];
    const ran = await runOnQuietMachine(
      t,
      () => run(['simulate', agent.url, ...users, '--json', json]),
      ({ code }) => code === 0,
    );
    if (!ran) return;
    t.equal(ran.code, 0, ran.stdout);
    const turns = readSimulationReport(t, json).sessions.flatMap(({ traces }) => traces);
    const interruptions = turns.filter(({ interrupts }) => interrupts).length;
    if (persona === 'rushed') t.ok(interruptions > 0, 'the user interrupts');
    else t.equal(interruptions, 0);
  });
}
