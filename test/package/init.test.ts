/**
 * Every template of `sandbox-kit init`, with the steps of a user: create it with the installed kit,
 * install its packages from the registry, and run `npm test`. Each step is timed.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import { systemClock } from '../../src/platform/clock.ts';
import { ROOT } from '../support/repository.ts';
import { createProject, type Project, type ProjectResult } from './tarball.ts';

/** Runs a script in a directory of a project, and reports how long it took. */
async function runScript(
  t: Test,
  project: Project,
  {
    script,
    directory = '.',
    env = {},
  }: { script: string; directory?: string; env?: Record<string, string> },
): Promise<ProjectResult> {
  const startedMs = systemClock.monotonicMs();
  // Uses the Node that runs the tests: the machine may have an older one.
  const path = `${join(process.execPath, '..')}:${process.env['PATH'] ?? ''}`;
  const result = await project.run('bash', ['-ec', `cd '${directory}'\n${script}`], {
    PATH: path,
    ...env,
  });
  const seconds = (systemClock.monotonicMs() - startedMs) / 1_000;
  t.comment(`${seconds.toFixed(1)} s: ${script.split('\n')[0] ?? ''}`);
  return result;
}

const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');
const TYPES = ['@types/node@26', '@types/ws@8', '@types/express@5'];

void t.test('each template can be created and installed, and conforms', async (t) => {
  const project = await createProject(t);
  const variants = ['node', 'node --voice', 'express', 'fastify', 'hono'];
  for (const variant of variants) {
    await t.test(variant, async (t) => {
      const directory = `sandbox-${variant.replaceAll(/\W+/g, '-')}`;
      const created = await runScript(t, project, {
        script: `npx sandbox-kit init ${directory} --template ${variant}`,
      });
      t.equal(created.code, 0, created.stderr);
      const manifest = readFileSync(join(project.directory, directory, 'package.json'), 'utf8');
      t.match(manifest, /"sandbox-kit": "file:.*\.tgz"/, 'the kit comes from the same tarball');
      const installed = await runScript(t, project, {
        directory,
        script: 'npm install --no-audit',
      });
      t.equal(installed.code, 0, installed.stderr);
      const tested = await runScript(t, project, { directory, script: 'npm test' });
      t.equal(tested.code, 0, tested.stdout);
      t.match(tested.stdout, /pass 2\b/);
      const types = await runScript(t, project, {
        directory,
        script: `npm install --no-save --no-audit ${TYPES.join(' ')} > /dev/null && node ${TSC} -p jsconfig.json`,
      });
      t.equal(types.code, 0, types.stdout);
    });
  }
});

const hasFastApi = spawnSync('python3', ['-c', 'import fastapi, uvicorn']).status === 0;
const skip = hasFastApi ? false : 'python3-fastapi and python3-uvicorn are not installed.';

void t.test('fastapi can be created and installed, and conforms', { skip }, async (t) => {
  const project = await createProject(t);
  const script = `npx sandbox-kit init my-sandbox --template fastapi
cd my-sandbox
npm install --no-audit
npm test`;
  const { code, stdout, stderr } = await runScript(t, project, { script });
  t.equal(code, 0, stdout + stderr);
  t.match(stderr, /Ran 2 tests/);
});

interface Workflow {
  jobs: { check: { steps: { name?: string; run?: string }[] } };
}

void t.test('the steps of the workflow of a new project succeed', async (t) => {
  const project = await createProject(t);
  const directory = 'my-sandbox';
  const created = await runScript(t, project, {
    script: `npx sandbox-kit init ${directory} --template node && cd ${directory} && npm install`,
  });
  t.equal(created.code, 0, created.stderr);
  const path = join(project.directory, directory, '.github/workflows/check.yml');
  const { jobs } = parse(readFileSync(path, 'utf8')) as Workflow;
  const summary = join(project.directory, 'summary.md');
  const port = String(20_000 + (process.pid % 20_000));
  const steps = jobs.check.steps.flatMap(({ run }) => (run === undefined ? [] : [run]));
  t.equal(steps.length, 4);
  // All steps in one shell, whose processes end with it.
  const script = `set -o pipefail\n${steps.join('\n')}`;
  const env = { PORT: port, GITHUB_STEP_SUMMARY: summary };
  const { code, stdout, stderr } = await runScript(t, project, { directory, script, env });
  t.equal(code, 0, stdout + stderr);
  t.match(readFileSync(summary, 'utf8'), /conforming/i);
});

void t.test('npx runs init from a tarball', async (t) => {
  const project = await createProject(t);
  mkdirSync(join(project.directory, 'elsewhere'));
  const tarball = /"sandbox-kit": "file:(.*)"/.exec(
    readFileSync(join(project.directory, 'package.json'), 'utf8'),
  )?.[1];
  const script = `npx --yes --package "$TARBALL" -- sandbox-kit init my-sandbox --template node --json`;
  const env = {
    TARBALL: join(project.directory, tarball ?? ''),
    npm_config_cache: join(project.directory, 'cache'),
  };
  const created = await runScript(t, project, { directory: 'elsewhere', script, env });
  t.equal(created.code, 0, created.stderr);
  const { kit } = JSON.parse(created.stdout) as { kit: string };
  t.match(kit, /^file:.*\.tgz$/);
});
