/** The packed kit installs into an empty folder, and its command and its library start. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ROOT } from '../helpers/repository.ts';
import { createProject } from './tarball.ts';

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  version: string;
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
