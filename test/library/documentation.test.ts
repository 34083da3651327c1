/** The code of docs/library.md runs, and its output is real. test/package/ runs the rest of it. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { schemas } from '../../src/contract/index.ts';
import { toConform } from '../../library/matchers/index.ts';
import { run } from '../support/commands/command.ts';
import { readBlocks } from '../support/documentation/library-page.ts';
import { isNightly } from '../support/nightly.ts';
import { COMPILE_CACHE, ROOT } from '../support/repository.ts';

/** Lets a program import the sources instead of the installed package. */
function importSources(text: string): string {
  const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    exports: Record<string, string>;
  };
  return text
    .replaceAll("'sandbox-kit'", `'${join(ROOT, 'library/index.ts')}'`)
    .replaceAll("'sandbox-kit/matchers'", `'${join(ROOT, 'library/matchers/index.ts')}'`)
    .replaceAll(
      /'sandbox-kit(\/schemas\/\w+\.json)'/g,
      (_, path: string) => `'${join(ROOT, exports[`.${path}`] ?? '')}'`,
    );
}

/** Returns the comments after `console.log(…);`, which show its output. */
const shownOutput = (text: string): string[] =>
  [...text.matchAll(/console\.log\(.*\); \/\/ ([\w -]+)$/gm)].map(([, shown = '']) => shown);

/** Runs a program from a directory, and returns its output. It must exit with 0. */
const runProgram = (directory: string, name: string): string =>
  execFileSync(process.execPath, [join(directory, name)], {
    encoding: 'utf8',
    timeout: 300_000,
    env: { PATH: process.env['PATH'], NODE_COMPILE_CACHE: COMPILE_CACHE },
  });

/** A line in the output of several programs, before that of each one. */
const SEPARATOR = '--- next program';

void t.test('every program runs, and prints what its comments show', (t) => {
  const programs = readBlocks('ts');
  t.ok(programs.length >= 6, `${programs.length} programs`);
  const nameOf = (index: number): string => `program-${index}.ts`;
  const files = programs.map((text, index) => [nameOf(index), importSources(text)] as const);
  const all = programs.map(
    (_, index) => `console.log('${SEPARATOR}');\nawait import('./${nameOf(index)}');\n`,
  );
  const directory = t.testdir({ ...Object.fromEntries(files), 'all.ts': all.join('') });
  const outputs = isNightly
    ? programs.map((_, index) => runProgram(directory, nameOf(index)))
    : runProgram(directory, 'all.ts').split(SEPARATOR).slice(1);
  t.equal(outputs.length, programs.length, 'every program was run, and exited with 0');
  for (const [index, text] of programs.entries()) {
    for (const shown of shownOutput(text)) {
      t.ok(outputs[index]?.includes(shown), `program ${index} prints ${shown}`);
    }
  }
  t.end();
});

void t.test('the failure of a matcher is real', (t) => {
  const [shown] = readBlocks('text');
  const [reply] = schemas.ChatResponse.examples;
  const body = structuredClone<unknown>(reply) as { choices: { message: { content: unknown } }[] };
  for (const { message } of body.choices) message.content = null;
  const messages = [{ role: 'user', content: 'Hi.' }];
  const request = { method: 'POST', path: '/v1/chat/completions', body: { messages } };
  t.equal(`${toConform({ request, response: { status: 200, body } }).message()}\n`, shown);
  t.end();
});

const hasPytest = (): boolean => {
  try {
    execFileSync('python3', ['-c', 'import pytest'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
};

const skip = hasPytest() ? false : 'python3 has no pytest';

void t.test('the tests for pytest pass, and fail for a broken sandbox', { skip }, async (t) => {
  const [program = ''] = readBlocks('python');
  const cwd = t.testdir({ 'test_sandbox.py': program });
  const kit = `${process.execPath} ${join(ROOT, 'cli/main.ts')}`;
  const pytest = ['python3', '-m', 'pytest', '-q', '-p', 'no:cacheprovider'];
  const passed = await run(['exec', '--agent', '--', ...pytest], {
    cwd,
    env: { SANDBOX_KIT: kit, PYTHONDONTWRITEBYTECODE: '1' },
  });
  t.equal(passed.code, 0, passed.stdout);
  t.match(passed.stdout, /3 passed/);
  const failed = await run(
    ['exec', '--', 'env', 'SANDBOX_KIT_AGENT_URL=http://127.0.0.1:1', ...pytest],
    {
      cwd,
      env: { SANDBOX_KIT: kit, PYTHONDONTWRITEBYTECODE: '1' },
    },
  );
  t.equal(failed.code, 1);
  t.match(failed.stdout, /Nothing accepts connections at http:\/\/127\.0\.0\.1:1/);
});
