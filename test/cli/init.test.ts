/** `sandbox-kit init`: the files that it writes, its output, and its usage errors. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import { findKitDependency, findTarball, packageNameOf } from '../../cli/project/package-json.ts';
import { templateNames } from '../../cli/project/templates.ts';
import { assertUsageError, run, type CommandResult } from '../support/commands/command.ts';
import { ROOT } from '../support/repository.ts';

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  version: string;
};

/** The output with `--json`. */
interface Created {
  directory: string;
  name: string;
  kit: string;
  agentFile: string;
  files: string[];
  commands: string[];
}

/** Runs `init` in a new directory. */
async function init(
  t: Test,
  args: string[],
  files: Parameters<Test['testdir']>[0] = {},
): Promise<CommandResult & { cwd: string }> {
  const cwd = t.testdir(files);
  return { cwd, ...(await run(['init', ...args], { cwd })) };
}

const variants = [...templateNames.map((name) => [name]), ['node', '--voice']];

for (const [name = '', ...more] of variants) {
  void t.test(`the template ${[name, ...more].join(' ')} is complete`, async (t) => {
    const args = ['my-sandbox', '--template', name, ...more, '--json'];
    const { code, stdout, stderr, cwd } = await init(t, args);
    t.equal(code, 0, stderr);
    const created = JSON.parse(stdout) as Created;
    const { files } = created;
    t.match(created, { directory: 'my-sandbox', name: 'my-sandbox', kit: `file:${ROOT}` });
    t.equal(created.commands[0], 'cd my-sandbox');
    const read = (path: string): string => readFileSync(join(cwd, 'my-sandbox', path), 'utf8');
    for (const path of files) t.notMatch(read(path), /__[A-Z_]+__/, `${path} has no placeholder`);
    t.ok(files.includes(created.agentFile), 'the agent file exists');
    for (const path of ['.gitignore', 'README.md', '.github/workflows/check.yml']) {
      t.ok(files.includes(path), path);
    }
    t.ok(
      files.some((path) => /^tests?\//.test(path)),
      'there is a test',
    );
    const manifest = JSON.parse(read('package.json')) as { devDependencies: object };
    t.match(manifest, { name: 'my-sandbox', private: true });
    t.same(manifest.devDependencies, { 'sandbox-kit': `file:${ROOT}` });
    for (const file of [...read('README.md').matchAll(/`((?:src|sandbox)\/[\w.-]+)`/g)]) {
      t.ok(files.includes(file[1] ?? ''), `README.md names ${file[1] ?? ''}`);
    }
    t.match(read('README.md'), /^# my-sandbox\n/);
    t.match(parse(read('.github/workflows/check.yml')), { jobs: { check: {} } });
    const config = parse(read('sandbox-kit.config.yaml')) as { check: { area: string[] } };
    const areas = ['chat', 'health', 'users', ...(more.length > 0 ? ['voice'] : [])];
    t.same(config.check.area, areas);
  });
}

void t.test('the new project has a configuration file that the kit reads', async (t) => {
  const { cwd } = await init(t, ['--template', 'node']);
  const { code, stderr } = await run(['check'], { cwd, env: { PORT: '1' } });
  t.equal(code, 3, 'nothing listens');
  t.match(stderr, /Using sandbox-kit\.config\.yaml: check\.area, url\./);
});

void t.test('git tracks every file of a new project', async (t) => {
  for (const args of [['node', '--voice'], ['fastapi']]) {
    const { cwd, stdout } = await init(t, ['--template', ...args, '--json']);
    const { files } = JSON.parse(stdout) as Created;
    const git = (...words: string[]): string =>
      execFileSync('git', words, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    git('init', '--quiet');
    const tracked = git('ls-files', '--others', '--exclude-standard').trim().split('\n');
    t.same(tracked.sort(), files.sort(), args.join(' '));
  }
});

void t.test('prints the agent file and the next commands', async (t) => {
  const named = await init(t, ['my-sandbox', '--template', 'express']);
  t.match(named.stdout, /^Created a sandbox with Express in my-sandbox: \d+ files\.\n/);
  t.match(named.stdout, /Your agent goes in my-sandbox\/src\/agent\.js\./);
  t.match(
    named.stdout,
    `\nIt uses the sandbox-kit of this clone, which its CI workflow can't reach:\n  ${ROOT}\n`,
  );
  t.match(named.stdout, /Next:\n {2}cd my-sandbox\n {2}npm install\n {2}npm test\n$/);
  const here = await init(t, ['--template', 'node', '--voice']);
  t.match(
    here.stdout,
    /^Created a sandbox with Node's HTTP server and voice calls in this directory: /,
  );
  t.match(here.stdout, /Next:\n {2}npm install\n {2}npm test\n {2}npm start\n$/);
  const spaced = await init(t, ["it's mine", '--template', 'fastapi']);
  t.match(spaced.stdout, String.raw`cd 'it'\''s mine'`);
  t.match(spaced.stdout, /pip install -r requirements\.txt && npm install\n {2}npm test\n$/);
});

void t.test('for an npm on an old Node, the project gets a newer one', async (t) => {
  for (const [node, install] of [
    ['20.20.2', 'npm install --save-dev node@26'],
    ['22.18.0', 'npm install --save-dev node@26'],
    ['22.19.0', 'npm install'],
    ['26.0.0', 'npm install'],
  ] as const) {
    const env = { npm_config_user_agent: `npm/10.8.2 node/v${node} linux x64 workspaces/false` };
    const cwd = t.testdir({});
    const { stdout } = await run(['init', '--template', 'hono', '--json'], { cwd, env });
    t.same((JSON.parse(stdout) as Created).commands, [install, 'npm test', 'npm start'], node);
  }
});

void t.test('existing files are kept without --force', async (t) => {
  const files = { sandbox: { 'package.json': '{}', src: { 'agent.js': '// mine' } } };
  const { cwd, ...refused } = await init(t, ['sandbox', '--template', 'hono'], files);
  t.match(refused, { code: 2, stdout: '' });
  t.equal(
    refused.stderr,
    [
      'sandbox-kit: sandbox (DIR) already has 2 files of the template. Choose another',
      'directory, or use --force to overwrite them.',
      '  package.json',
      '  src/agent.js',
      '',
    ].join('\n'),
  );
  t.notOk(existsSync(join(cwd, 'sandbox/README.md')), 'nothing was written');
  const forced = await run(['init', 'sandbox', '--template', 'hono', '--force'], { cwd });
  t.equal(forced.code, 0, forced.stderr);
  t.match(readFileSync(join(cwd, 'sandbox/src/agent.js'), 'utf8'), 'replyTo');
});

void t.test('files that are not part of the template are kept', async (t) => {
  const { cwd, code } = await init(t, ['--template', 'node'], { 'notes.txt': 'mine' });
  t.equal(code, 0);
  t.equal(readFileSync(join(cwd, 'notes.txt'), 'utf8'), 'mine');
});

void t.test('a symbolic link is an existing file, even if its target does not exist', async (t) => {
  const cwd = t.testdir({});
  symlinkSync(join(cwd, 'elsewhere'), join(cwd, 'README.md'));
  const { code, stderr } = await run(['init', '--template', 'node'], { cwd });
  t.equal(code, 2);
  t.match(stderr, /already has 1 file of the template\. [^]*\n {2}README\.md\n$/);
  t.notOk(existsSync(join(cwd, 'elsewhere')));
});

void t.test('usage errors explain the correct usage', async (t) => {
  const cwd = t.testdir({ file: '', blocked: { src: 'a file' }, taken: { 'README.md': {} } });
  const assertMessage = async (args: string[], message: RegExp): Promise<void> => {
    assertUsageError(t, await run(['init', ...args], { cwd }), message);
  };
  await assertMessage(['x', '--template', 'expres'], /got "expres"\. Did you mean express\?/);
  await assertMessage(['x'], /--template is missing\. It must be one of node, express, /);
  await assertMessage(['x', '--template', 'rails'], /must be one of node, .*, got "rails"\.\n/);
  await assertMessage(['x', '--template', 'hono', '--voice'], /--voice needs --template node\./);
  await assertMessage(['x', 'y', '--template', 'node'], /Unexpected argument "y"/);
  await assertMessage(
    ['file', '--template', 'node'],
    /DIR must be a directory, but file is a file\./,
  );
  await assertMessage(
    ['blocked', '--template', 'node'],
    /blocked\/src is a file, but the template/,
  );
  await assertMessage(['taken', '--template', 'node'], /taken\/README\.md is a directory, but/);
  t.notOk(existsSync(join(cwd, 'x')), 'nothing was written');
});

void t.test('the package gets a valid name from its directory', (t) => {
  const names: [directory: string, name: string][] = [
    ['my-sandbox', 'my-sandbox'],
    ['/tmp/My Sandbox', 'my-sandbox'],
    ['.hidden_', 'hidden'],
    ['Größe & Co', 'gro-e-co'],
    ['注文', 'sandbox'],
    ['/', 'sandbox'],
    ['express', 'express-sandbox'],
    ['sandbox-kit', 'sandbox-kit-sandbox'],
    ['node_modules', 'node_modules-sandbox'],
    ['a'.repeat(200), 'a'.repeat(100)],
  ];
  for (const [directory, name] of names) {
    t.equal(packageNameOf(directory, ['express', 'sandbox-kit']), name, directory);
  }
  t.end();
});

void t.test('a kit that was installed from a tarball is installed from it again', (t) => {
  const directory = t.testdir({
    'kit.tgz': '',
    project: { node_modules: { 'sandbox-kit': {} } },
  });
  const modules = join(directory, 'project/node_modules');
  const installFrom = (resolved: string | undefined): string | undefined => {
    const packages = { 'node_modules/sandbox-kit': { version, resolved } };
    writeFileSync(join(modules, '.package-lock.json'), JSON.stringify({ packages }));
    return findTarball(join(modules, 'sandbox-kit'));
  };
  t.equal(findTarball(join(modules, 'sandbox-kit')), undefined, 'without a lock file');
  t.equal(installFrom('file:../kit.tgz'), join(directory, 'kit.tgz'));
  t.equal(installFrom('file:../gone.tgz'), undefined);
  t.equal(installFrom('https://registry.npmjs.org/sandbox-kit/-/sandbox-kit-0.1.0.tgz'), undefined);
  t.equal(installFrom(undefined), undefined);
  t.equal(findTarball(directory), undefined, 'a clone');
  const kit = join(modules, 'sandbox-kit');
  installFrom('file:../kit.tgz');
  const local = { kind: 'tarball', path: '../kit.tgz' };
  t.same(findKitDependency(join(directory, 'new'), kit), { spec: 'file:../kit.tgz', local });
  installFrom('https://registry.npmjs.org/sandbox-kit/-/sandbox-kit-0.1.0.tgz');
  t.same(findKitDependency(join(directory, 'new'), kit), { spec: `^${version}` });
  t.end();
});
