/** `sandbox-kit simulate --compare`: the verdict about the runs, then the scenarios, in every output. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { SimulationReport } from '../../src/contract/index.ts';
import { run, type CommandResult } from '../support/commands/command.ts';
import { createFolder, writeFileIn } from '../support/commands/folder.ts';
import { HELLO, readSimulationReport } from '../support/commands/simulate-command.ts';
import { reply, withSandboxDouble } from '../support/sandboxes/sandbox-double.ts';

const FOLDER = createFolder(t);
const file = (name: string, text: string): string => writeFileIn(FOLDER, name, text);
const read = (path: string): SimulationReport => readSimulationReport(t, path);

void t.test(
  '--compare judges the run first, then the scenarios, and not by one sample',
  async (t) => {
    const set = (id: string, text: string): string =>
      HELLO.replace('id: hello', `id: ${id}`).replace('text: welcome', `text: ${text}`);
    const path = file('base.scenario.yaml', `${set('a', 'one')}---\n${set('b', 'two')}`);
    const double = await withSandboxDouble(t, { chat: reply('one') });
    const before = join(FOLDER, 'before.json');
    const [now, junit, markdown] = ['now.json', 'now.xml', 'now.md'].map((name) =>
      join(FOLDER, name),
    ) as [string, string, string];
    const compare = async (samples: string): Promise<CommandResult> => {
      const args = ['simulate', double.url, '--scenario', path, '--samples', samples];
      double.setBehavior({ chat: reply('one') });
      t.equal((await run([...args, '--json', before])).code, 1);
      double.setBehavior({ chat: reply('two') });
      const outputs = ['--json', now, '--junit', junit, '--markdown', markdown];
      const ran = await run([...args, '--compare', before, ...outputs]);
      t.equal(ran.code, 1);
      t.notOk(
        ran.stdout.split('\n').some((line) => line.length > 80),
        'at most 80 columns',
      );
      return ran;
    };
    const one = await compare('1');
    t.match(one.stdout, /^Compared with the run of .* UTC: not comparable\n/m);
    t.match(
      one.stdout.replaceAll(/\s+/g, ' '),
      'To see such changes of scenarios, run 5 samples of each scenario in both',
    );
    t.match(
      one.stdout,
      /not comparable {2}a {2}passed 1\/1 -> failed 0\/1 {2}1 sample each\nnot comparable {2}b {2}failed 0\/1 -> passed 1\/1 {2}1 sample each\n/,
    );
    t.notMatch(one.stdout, /regressed|p = 1\.000/);
    t.match(read(now).comparison, { verdict: 'not_comparable', p: null });

    const five = await compare('5');
    t.match(five.stdout, /^Compared with the run of .* UTC: better and worse\n/m);
    t.match(
      five.stdout,
      /regressed +a +passed 5\/5 -> failed 0\/5 +p = 0\.0\d\d\nimproved +b +failed 0\/5/,
    );
    t.match(read(now).comparison?.rows, [{ change: 'regressed' }, { change: 'improved' }]);
    t.match(
      readFileSync(markdown, 'utf8'),
      /### Compared with .* UTC: better and worse\n\n5 of 10 sessions passed before/,
    );
    t.match(
      readFileSync(junit, 'utf8'),
      /classname="simulate\.comparison" name="Compared with .* UTC: better and worse">\s*<system-out>5 of 10 sessions/,
    );
  },
);

void t.test('--compare leaves out scenarios whose evals were edited', async (t) => {
  const { url } = await withSandboxDouble(t, { chat: reply('one') });
  const before = join(FOLDER, 'unedited.json');
  const samples = ['--samples', '6'];
  const path = file('edited.scenario.yaml', HELLO.replace('text: welcome', 'text: one'));
  t.equal((await run(['simulate', url, '--scenario', path, ...samples, '--json', before])).code, 0);
  file('edited.scenario.yaml', HELLO);
  const args = ['simulate', url, '--scenario', path, ...samples];
  const ran = await run([...args, '--compare', before]);
  t.equal(ran.code, 1);
  t.match(ran.stdout, /^Compared with the run of .* UTC: not comparable\n/m);
  t.match(ran.stdout, /Not compared: 1 scenario whose evals were edited\./);
  t.match(ran.stdout, /^not comparable {2}hello {2}passed 6\/6 -> failed 0\/6 {2}edited: /m);
});
