/** The packed kit installs into an empty folder, and its command and its library start. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import t from 'tap';
import { ROOT } from '../support/repository.ts';
import { until } from '../support/until.ts';
import { createProject, installNode, NODE_VERSIONS } from './tarball.ts';

const { version, engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  version: string;
  engines: { node: string };
};

void t.test('the packed kit installs and starts', async (t) => {
  const project = await createProject(t, {
    files: {
      'start.mjs': `
        import { startAgent } from 'sandbox-kit';
        const agent = await startAgent();
        const response = await fetch(agent.url + '/health');
        console.log(response.status);
        await agent.stop();
      `,
    },
  });
  const command = await project.run(process.execPath, [
    'node_modules/sandbox-kit/bin/sandbox-kit.js',
    '--version',
  ]);
  t.equal(command.stdout.trim(), version);
  const library = await project.run(process.execPath, ['start.mjs']);
  t.same(library, { code: 0, stdout: '200\n', stderr: '' });
});

void t.test('the installed command drains after SIGTERM, and exits with 0', async (t) => {
  const { directory } = await createProject(t);
  const bin = join(directory, 'node_modules/.bin/sandbox-kit');
  const script = join(directory, 'node_modules/sandbox-kit/bin/sandbox-kit.js');
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}` };
  for (const [program, ...args] of [[bin], [process.execPath, script]] as [string, ...string[]][]) {
    const command = [...args, 'serve', '--port', '0', '--json', '--drain', '1s'];
    const child = spawn(program, command, { cwd: directory, env });
    t.teardown(() => child.kill('SIGKILL'));
    const ended = once(child, 'exit');
    const [firstLine] = (await once(createInterface(child.stdout), 'line')) as [string];
    const { url } = JSON.parse(firstLine) as { url: string };
    t.equal((await fetch(`${url}/ready`)).status, 200);
    child.kill('SIGTERM');
    await until('it drains', async () => (await fetch(`${url}/ready`)).status === 503);
    t.same(await ended, [0, null], program);
    await t.rejects(fetch(`${url}/ready`), 'nothing listens anymore');
  }
});

void t.test('features that few runs need work in the packed kit', async (t) => {
  // These are loaded by `import()`, so a start does not show that they work.
  const project = await createProject(t, {
    files: {
      'start.mjs': `
        import { startAgent, startService } from 'sandbox-kit';
        const agent = await startAgent({ tls: { kind: 'generated' } });
        console.log(new URL(agent.url).protocol);
        await agent.stop();
        const service = await startService();
        const headers = { 'content-type': 'application/json' };
        const scenario = { id: 'greeting', name: 'Greeting', user: { opening: 'Hello' } };
        const body = JSON.stringify(scenario);
        await fetch(service.adminUrl + '/scenarios', { method: 'POST', headers, body });
        for (const path of ['/', '/scenarios', '/scenarios/greeting', '/agents', '/evals/new']) {
          const page = await fetch(service.url + path, { headers: { accept: 'text/html' } });
          console.log(path, page.status);
        }
        await service.stop();
      `,
    },
  });
  const { stdout, stderr } = await project.run(process.execPath, ['start.mjs']);
  const paths = ['/', '/scenarios', '/scenarios/greeting', '/agents', '/evals/new'];
  t.same(stdout.trim().split('\n'), ['https:', ...paths.map((path) => `${path} 200`)]);
  t.equal(stderr, '');
});

void t.test('the demo and the selftest succeed under the oldest supported Node', async (t) => {
  const [oldest] = NODE_VERSIONS;
  t.equal(engines.node, `>=${oldest}`);
  const project = await createProject(t);
  const node = await installNode(t, oldest);
  const script = 'node_modules/sandbox-kit/bin/sandbox-kit.js';
  const demo = await project.run(node, [script, 'demo']);
  t.match(demo, { code: 0, stdout: /Every step gave the expected result/ });
  const selftest = await project.run(node, [script, 'selftest', '--area', 'chat,health,users']);
  t.match(selftest, { code: 0, stdout: /^PROVEN/m });
});
