/** If Docker is available: the image builds from the packed kit and runs without privileges. */
import { spawnSync } from 'node:child_process';
import { copyFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import t from 'tap';
import { ROOT } from '../support/repository.ts';
import { createEmptyProject, packKit } from './tarball.ts';

const hasDocker = spawnSync('docker', ['info'], { stdio: 'ignore' }).status === 0;
const skip = hasDocker ? false : 'No Docker daemon is running.';

void t.test('the image builds and runs without privileges', { skip }, async (t) => {
  const context = createEmptyProject(t);
  const tarball = packKit();
  copyFileSync(tarball, join(context.directory, basename(tarball)));
  for (const file of ['Dockerfile', '.dockerignore']) {
    copyFileSync(join(ROOT, file), join(context.directory, file));
  }
  const image = `sandbox-kit-test-${process.pid}`;
  t.teardown(() => spawnSync('docker', ['image', 'rm', '--force', image], { stdio: 'ignore' }));
  const built = await context.run('docker', ['build', '--tag', image, '.']);
  t.equal(built.code, 0, built.stderr);
  const version = await context.run('docker', ['run', '--rm', image, '--version']);
  t.match(version.stdout, /^\d+\.\d+\.\d+/);
  const user = await context.run('docker', ['run', '--rm', '--entrypoint', 'id', image, '-u']);
  t.equal(user.stdout.trim(), '1000');
});
