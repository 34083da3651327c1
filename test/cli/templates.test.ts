/**
 * The templates of `sandbox-kit init` whose packages this repository has: their own tests pass, and
 * their error responses and limits obey the interface. `test/package/init.test.ts` installs and tests all of them.
 */
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import { systemClock } from '../../src/platform/clock.ts';
import { run } from '../support/commands/command.ts';
import { nightOnly } from '../support/nightly.ts';
import { COMPILE_CACHE, ROOT } from '../support/repository.ts';

const COMMAND_MS_MAX = 300_000;

/** Creates a project from a template; its packages are those of the repository. */
async function createProject(t: Test, template: string, ...more: string[]): Promise<string> {
  const directory = t.testdir({});
  const { code, stderr } = await run(['init', '--template', template, ...more], { cwd: directory });
  t.equal(code, 0, stderr);
  linkKit(directory);
  return directory;
}

/** Makes the sources of the kit available as an installed package, with its library and command. */
function linkKit(directory: string): void {
  const write = (path: string, text: string): void => {
    const file = join(directory, 'node_modules', path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    chmodSync(file, 0o755);
  };
  const library = pathToFileURL(join(ROOT, 'library/index.ts')).href;
  const main = join(ROOT, 'cli/main.ts');
  const manifest = { name: 'sandbox-kit', type: 'module', exports: './index.js' };
  write('sandbox-kit/package.json', JSON.stringify(manifest));
  write('sandbox-kit/index.js', `export * from '${library}';\n`);
  write('.bin/sandbox-kit', `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`);
}

/** Runs a program in a project, and reports how long it took. */
async function runIn(
  t: Test,
  cwd: string,
  [program = '', ...args]: readonly string[],
): Promise<{ code: number | null; output: string }> {
  const { PATH = '', HOME = '' } = process.env;
  const path = `${dirname(process.execPath)}:${PATH}`;
  const env = { PATH: path, HOME, NODE_COMPILE_CACHE: COMPILE_CACHE };
  const startedMs = systemClock.monotonicMs();
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  using deadline = systemClock.deadline(COMMAND_MS_MAX);
  deadline.signal.addEventListener('abort', () => child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => (output += String(chunk)));
  }
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  const seconds = (systemClock.monotonicMs() - startedMs) / 1_000;
  t.comment(`${program} ${args.join(' ')}: ${seconds.toFixed(1)} s`);
  return { code, output };
}

/** The script `test` of a project, with the Node that runs this test. */
const nodeTest = [process.execPath, '--test'];

function change(directory: string, path: string, from: string, to: string): void {
  const file = join(directory, path);
  const text = readFileSync(file, 'utf8');
  if (!text.includes(from)) throw new Error(`${path} does not contain ${from}`);
  writeFileSync(file, text.replace(from, to));
}

for (const [options, template = '', ...more] of [
  [{}, 'node'],
  [nightOnly(), 'fastify'],
  [nightOnly(), 'node', '--voice'],
] as const) {
  void t.test(`the test of ${[template, ...more].join(' ')} passes`, options, async (t) => {
    const directory = await createProject(t, template, ...more);
    const { code, output } = await runIn(t, directory, nodeTest);
    t.equal(code, 0, output);
    t.match(output, /pass 2\b/);
  });
}

void t.test('the test of a project names the rule that a change breaks', async (t) => {
  const directory = await createProject(t, 'node');
  change(
    directory,
    'src/chat.js',
    'content,\n',
    'content: toolUses.length > 0 ? null : content,\n',
  );
  const { code, output } = await runIn(t, directory, nodeTest);
  t.not(code, 0);
  t.match(output, /CHAT-024 `choices\[\]\.message\.content` is a string/);
});

void t.test('the test of a voice project detects silence', nightOnly(), async (t) => {
  const directory = await createProject(t, 'node', '--voice');
  change(directory, 'src/speech.js', '8_000 *', '0 *');
  const { code, output } = await runIn(t, directory, nodeTest);
  t.not(code, 0);
  t.match(output, /VOICE-076/);
});

const hasFastApi = spawnSync('python3', ['-c', 'import fastapi, uvicorn']).status === 0;
const needsFastApi = hasFastApi
  ? nightOnly()
  : { skip: 'python3-fastapi and python3-uvicorn are not installed.' };
void t.test('the test of fastapi passes', needsFastApi, async (t) => {
  const directory = await createProject(t, 'fastapi');
  const { scripts } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as {
    scripts: { test: string };
  };
  const { code, output } = await runIn(t, directory, scripts.test.split(' '));
  t.equal(code, 0, output);
  t.match(output, /Ran 2 tests/);
});

interface RunningSandbox {
  url: string;
  stop: () => Promise<void>;
}

/** Starts the sandbox of a project in this process. */
async function startIn(t: Test, directory: string, apiKey?: string): Promise<string> {
  const server = pathToFileURL(join(directory, 'src/server.js')).href;
  const { startSandbox } = (await import(server)) as {
    startSandbox: (options: {
      port: number;
      apiKey?: string | undefined;
    }) => Promise<RunningSandbox>;
  };
  const sandbox = await startSandbox({ port: 0, apiKey });
  t.teardown(() => sandbox.stop());
  return sandbox.url;
}

for (const template of ['node', 'fastify']) {
  void t.test(`the errors of ${template} have the shape of the interface`, async (t) => {
    const url = await startIn(t, await createProject(t, template), 'the-key');
    const send = async (
      path: string,
      options: RequestInit = {},
    ): Promise<{ status: number; body: unknown }> => {
      const headers = { authorization: 'Bearer the-key', 'content-type': 'application/json' };
      const response = await fetch(url + path, { headers, ...options });
      return { status: response.status, body: await response.json() };
    };
    const assertError = async (
      [status, type, code]: [status: number, type: string, code: string],
      path: string,
      options: RequestInit,
    ): Promise<void> => {
      const response = await send(path, options);
      t.match(response, { status, body: { error: { message: String, type, code } } }, path);
    };
    const chat = '/v1/chat/completions';
    const unauthorized = { method: 'POST', body: '{"messages":[]}', headers: {} };
    await assertError([401, 'authentication_error', 'unauthorized'], chat, unauthorized);
    await assertError([404, 'invalid_request_error', 'not_found'], '/nowhere', {});
    await assertError([404, 'invalid_request_error', 'not_found'], '/users/unknown', {
      method: 'DELETE',
      headers: { authorization: 'Bearer the-key' },
    });
    const long = JSON.stringify({ messages: [{ role: 'user', content: 'x'.repeat(9_000_000) }] });
    await assertError([413, 'invalid_request_error', 'body_too_large'], chat, {
      method: 'POST',
      body: long,
    });
    const body = { messages: [{ role: 'user', content: 'x'.repeat(2_000_000) }] };
    const large = await send(chat, { method: 'POST', body: JSON.stringify(body) });
    t.equal(large.status, 200, 'a long conversation is accepted');
  });
}

void t.test('a failed dependency makes the sandbox unhealthy', async (t) => {
  const directory = await createProject(t, 'node');
  change(
    directory,
    'src/health.js',
    'async () => true',
    "async () => { throw new Error('down'); }",
  );
  const response = await fetch(`${await startIn(t, directory)}/health`);
  t.equal(response.status, 503);
  t.match(await response.json(), {
    status: 'unhealthy',
    dependencies: { llm_service: 'unhealthy' },
    error: { message: String, details: 'llm_service' },
  });
});

void t.test('an error of the agent is a 500 without details', async (t) => {
  const directory = await createProject(t, 'node');
  change(directory, 'src/agent.js', 'const question', "throw new Error('secret'); const question");
  const logged = t.capture(console, 'error');
  const response = await fetch(`${await startIn(t, directory)}/v1/chat/completions`, {
    method: 'POST',
    body: '{"messages":[]}',
  });
  t.equal(response.status, 500);
  const text = await response.text();
  t.match(JSON.parse(text), { error: { type: 'internal_error', code: 'server_error' } });
  t.notMatch(text, 'secret');
  t.equal(logged().length, 1, 'the log has the details');
});
