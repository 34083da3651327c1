/** Shell completion: in a real bash, and the words for zsh. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync, chmodSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import t, { type Test } from 'tap';
import { commandEntries } from '../../cli/commands/index.ts';
import { run } from '../support/commands/command.ts';
import { COMPILE_CACHE, ROOT } from '../support/repository.ts';

void t.test('completion: bash completes commands, options, and values', async (t) => {
  const { stdout: script, code } = await run(['completion', 'bash']);
  t.equal(code, 0);
  const complete = createBash(t, script);
  t.same(complete('sandbox-kit che'), ['check']);
  t.same(complete('sandbox-kit check --area chat,us'), ['chat,users'], 'the end of a list');
});

/** Returns the words that the script of bash gets for a line. */
async function wordsFor(line: string): Promise<string[]> {
  const { stdout } = await run(['--get-yargs-completions', ...line.split(' ')]);
  return stdout.split('\n').filter((word) => word !== '');
}

void t.test('completion: the words for commands, options, and values', async (t) => {
  t.same(
    await wordsFor('sandbox-kit '),
    commandEntries.map(({ name }) => name),
  );
  t.same(await wordsFor('sandbox-kit check --jun'), ['--junit']);
  t.ok((await wordsFor('sandbox-kit load http://127.0.0.1 --')).includes('--find-max'));
  t.same(await wordsFor('sandbox-kit load --engine '), ['open', 'autocannon']);
  t.same(await wordsFor('sandbox-kit check --area us'), ['users']);
  t.same(await wordsFor('sandbox-kit completion z'), ['zsh'], 'the value of an argument');
});

void t.test('completion: bash completes file names where a file is expected', async (t) => {
  const { stdout: script } = await run(['completion', 'bash']);
  const complete = createBash(t, script);
  t.same(complete('sandbox-kit check --json '), [], 'no word replaces the file name');
  t.match(script, /complete -o bashdefault -o default -F \S+ sandbox-kit/);
});

void t.test('completion: zsh gets the meaning of each word', async (t) => {
  const { stdout: script, code } = await run(['completion', 'zsh']);
  t.equal(code, 0);
  t.match(script, /^#compdef sandbox-kit$/m);
  const { stdout } = await run(['--get-yargs-completions', 'sandbox-kit', 'schem'], {
    env: { COMP_LINE: 'sandbox-kit schem' },
  });
  t.match(stdout, /^schemas:List the JSON Schemas/);
});

void t.test('completion: a used option and a command after -- are not offered', async (t) => {
  const options = await wordsFor('sandbox-kit check --json a.json --j');
  t.ok(options.includes('--junit') && !options.includes('--json'), options.join(' '));
  t.same(await wordsFor('sandbox-kit exec -- npm t'), []);
  t.ok(
    (await wordsFor('sandbox-kit agent --no')).includes('--no-voice'),
    'a switch that is on by default',
  );
});

void t.test('completion: an unknown shell is a usage error', async (t) => {
  const { code, stderr } = await run(['completion', 'tcsh']);
  t.equal(code, 2);
  t.match(stderr, /SHELL must be one of bash, zsh, got "tcsh"\./);
});

/** Returns a function that completes a line in a real bash that has loaded the script. */
function createBash(t: Test, script: string): (line: string) => string[] {
  const directory = mkdtempSync(join(tmpdir(), 'completion-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const program = join(directory, 'sandbox-kit');
  const main = join(ROOT, 'cli/main.ts');
  writeFileSync(program, `#!/bin/sh\nexec node ${main} "$@"\n`);
  chmodSync(program, 0o755);
  symlinkSync(process.execPath, join(directory, 'node'));
  writeFileSync(join(directory, 'script'), script);
  return (line) => {
    const words = line.split(' ');
    const asked = `
      source "${directory}/script"
      COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})
      COMP_CWORD=${words.length - 1}
      COMP_LINE='${line}'
      COMP_POINT=${line.length}
      $(complete -p sandbox-kit | sed -E 's/.* -F ([^ ]+) .*/\\1/')
      printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout } = spawnSync('bash', ['--norc', '-c', asked], {
      encoding: 'utf8',
      env: {
        PATH: [directory, process.env['PATH']].join(delimiter),
        NODE_COMPILE_CACHE: COMPILE_CACHE,
      },
    });
    return stdout
      .split('\n')
      .filter((word) => word !== '')
      .sort();
  };
}
