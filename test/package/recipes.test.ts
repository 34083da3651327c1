/** The recipes for CI run unchanged, with the packed kit. */
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import type { CheckReport } from '../../src/contract/index.ts';
import { ROOT } from '../support/repository.ts';
import { withReferenceAgent } from '../support/sandboxes/reference-agent.ts';
import { runAction } from '../recipes/action-runner.ts';
import { createEmptyProject, createProject, packKit, type Project } from './tarball.ts';

const recipe = (name: string): string => join(ROOT, 'docs/recipes', name);
const nodePath = `${join(process.execPath, '..')}:${process.env['PATH'] ?? ''}`;

const readReport = (project: Project, path: string): CheckReport =>
  JSON.parse(readFileSync(join(project.directory, path), 'utf8')) as CheckReport;

/** Returns a free port: a recipe needs to know it before the sandbox starts. */
async function findPort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return String(port);
}

/** Creates a project whose `npm start` starts the reference sandbox at $PORT. */
async function createSandboxProject(t: Test): Promise<Project> {
  const project = createEmptyProject(t);
  project.write({
    'package.json': JSON.stringify({
      name: 'a-sandbox',
      private: true,
      type: 'module',
      scripts: { start: 'sandbox-kit agent --no-voice --port "$PORT"' },
    }),
  });
  const { code, stderr } = await project.install(packKit());
  t.equal(code, 0, stderr);
  return project;
}

void t.test('the GitHub Action installs the kit from a tarball', async (t) => {
  const { agent } = await withReferenceAgent(t, { voice: null });
  const { directory } = createEmptyProject(t);
  const inputs = { url: agent.url, areas: 'chat,health,users', version: packKit() };
  const result = await runAction({ workspace: directory, inputs });
  t.equal(result.code, 0, result.log);
  t.match(result.outputs, { verdict: 'conforming', 'exit-code': '0' });
  t.match(result.summary, /conforming/i);
});

interface Pipeline {
  variables: Record<string, string>;
  'check-sandbox': {
    before_script: string[];
    script: string[];
    artifacts: { paths: string[]; reports: { junit: string } };
  };
}

void t.test('the GitLab job checks the sandbox', async (t) => {
  const project = await createSandboxProject(t);
  const pipeline = parse(readFileSync(recipe('gitlab-ci.yml'), 'utf8')) as Pipeline;
  const { before_script, script, artifacts } = pipeline['check-sandbox'];
  t.same(Object.keys(pipeline.variables), ['SANDBOX_KIT', 'SANDBOX_URL']);
  const port = await findPort();
  const env = {
    PATH: nodePath,
    PORT: port,
    SANDBOX_URL: `http://127.0.0.1:${port}`,
    SANDBOX_KIT: packKit(),
    npm_config_cache: join(project.directory, '.npm'),
  };
  // A runner executes the lines in one shell, and ends all processes of the job.
  const lines = [...before_script, ...script].join('\n');
  const result = await project.run('bash', ['-eo', 'pipefail', '-c', lines], env);
  t.equal(result.code, 0, result.stdout + result.stderr);
  t.equal(readReport(project, 'check.json').verdict, 'conforming');
  for (const path of [...artifacts.paths, artifacts.reports.junit]) {
    t.ok(existsSync(join(project.directory, path)), path);
  }
});

void t.test('the shell script starts, checks, and stops a sandbox', async (t) => {
  const project = await createProject(t);
  const port = await findPort();
  const url = `http://127.0.0.1:${port}`;
  const run = (env: Record<string, string>, ...args: string[]) =>
    project.run('sh', [recipe('check.sh'), ...args], {
      PATH: nodePath,
      SANDBOX_URL: url,
      SANDBOX_KIT: 'npx --no sandbox-kit',
      ...env,
    });
  const start = `node node_modules/sandbox-kit/bin/sandbox-kit.js agent --no-voice --port ${port}`;
  const checked = await run({ START: start }, '--area', 'health,users');
  t.equal(checked.code, 0, checked.stdout + checked.stderr);
  t.equal(readReport(project, 'check.json').verdict, 'conforming');
  await t.rejects(fetch(url), 'the sandbox was stopped');
  const ended = await run({ START: 'node --eval 0' });
  t.equal(ended.code, 3);
  t.match(ended.stderr, /The sandbox exited before it responded at http/);
  const silent = await run({ START: 'sleep 30', WAIT_SECONDS: '1' });
  t.equal(silent.code, 3);
  t.match(silent.stderr, /did not respond at http.* within 1 s/);
  const unset = await run({});
  t.not(unset.code, 0);
  t.match(unset.stderr, /Set START to the command that starts the sandbox/);
});
