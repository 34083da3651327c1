/** Signals to commands that npx runs. */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { start } from '../support/commands/command-process.ts';
import { COMPILE_CACHE, ROOT } from '../support/repository.ts';
import { hang, withSandboxDouble } from '../support/sandboxes/sandbox-double.ts';
import { until } from '../support/until.ts';

const npm = { npm_lifecycle_event: 'npx', npm_lifecycle_script: "'sandbox-kit'" };

/** Runs a command in a shell, as npx does. All processes of the shell are killed after the test. */
function runInNpmShell(t: Test, args: readonly string[]): ChildProcessWithoutNullStreams {
  const { PATH = '', HOME = '' } = process.env;
  const env = { PATH, HOME, NODE_COMPILE_CACHE: COMPILE_CACHE, ...npm };
  const command = [process.execPath, join(ROOT, 'cli/main.ts'), ...args];
  // With a second command, every shell waits for the first one, as dash always does.
  const shell = spawn('sh', ['-c', '"$@"; :', 'sh', ...command], { env, detached: true });
  t.teardown(() => {
    try {
      process.kill(-(shell.pid ?? NaN), 'SIGKILL');
    } catch {
      // All of them have ended.
    }
  });
  return shell;
}

async function endShell(t: Test, shell: ChildProcessWithoutNullStreams): Promise<void> {
  shell.kill('SIGTERM');
  await once(shell, 'exit');
  t.equal(shell.signalCode, 'SIGTERM', 'the shell does not pass the signal on');
}

void t.test('serve stops if SIGTERM ends only its shell', async (t) => {
  const shell = runInNpmShell(t, ['serve', '--port', '0', '--json']);
  const [line] = (await once(shell.stdout, 'data')) as [Buffer];
  const { url } = JSON.parse(line.toString()) as { url: string };
  await endShell(t, shell);
  const isListening = (): Promise<boolean> =>
    fetch(url).then(
      () => true,
      () => false,
    );
  await until('the service stops', async () => !(await isListening()));
});

void t.test('check stops if SIGTERM ends only its shell, and writes its report', async (t) => {
  const double = await withSandboxDouble(t, { chat: hang });
  const json = join(t.testdir({}), 'check.json');
  const shell = runInNpmShell(t, ['check', double.url, '--area', 'chat', '--json', json]);
  await double.waitForRequests('chat', 1);
  await endShell(t, shell);
  await until('the report', () => readFileSync(json, 'utf8').endsWith('}\n'));
  t.equal(double.requests.at(-1)?.route, 'delete');
  t.match(JSON.parse(readFileSync(json, 'utf8')), {
    blockedBy: { message: 'The run was interrupted.' },
  });
});

void t.test('a signal that npm passes on is not a second one', async (t) => {
  const double = await withSandboxDouble(t, { chat: hang });
  const json = join(t.testdir({}), 'check.json');
  const args = ['check', double.url, '--area', 'chat', '--json', json];
  const { signal, end, stderrSoFar } = await start(t, args, { env: npm });
  await double.waitForRequests('chat', 1);
  // Two different signals always arrive as two.
  signal('SIGINT');
  t.equal(await end('SIGTERM'), 3, stderrSoFar());
  t.equal(double.requests.at(-1)?.route, 'delete');
  t.match(JSON.parse(readFileSync(json, 'utf8')), {
    blockedBy: { message: 'The run was interrupted.' },
  });
});

void t.test('serve stops in order if npm passes a signal on', async (t) => {
  const { signal, end } = await start(t, ['serve', '--port', '0'], { env: npm });
  signal('SIGINT');
  t.equal(await end('SIGTERM'), 0);
});
