/** Metadata, workflows, the changelog, and the security policy of a release agree. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { commandEntries } from '../../cli/commands/index.ts';
import { ROOT } from '../support/repository.ts';

const REPOSITORY = 'https://github.com/sandbox-kit/sandbox-kit';
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

interface PackageJson {
  version: string;
  homepage: string;
  repository: { url: string };
  bugs: { url: string };
  files: string[];
  publishConfig: object;
  scripts: Record<string, string>;
}
const kit = JSON.parse(read('package.json')) as PackageJson;

interface Workflow {
  on: Record<string, unknown>;
  permissions: Record<string, string>;
  jobs: Record<string, Job>;
}

interface Job {
  needs?: string;
  permissions?: Record<string, string>;
  steps: { run?: string; uses?: string; with?: Record<string, unknown> }[];
}

const readWorkflow = (name: string): Workflow =>
  parse(read(`.github/workflows/${name}.yml`)) as Workflow;

void t.test('package.json has the repository from which the workflows publish', (t) => {
  t.match(kit, {
    homepage: `${REPOSITORY}#readme`,
    repository: { url: `git+${REPOSITORY}.git` },
    bugs: { url: `${REPOSITORY}/issues` },
    publishConfig: { access: 'public', provenance: true },
  });
  for (const page of ['CHANGELOG.md', 'SECURITY.md']) {
    for (const [url] of read(page).matchAll(/https:\/\/github\.com\/[^\s)>]+/g)) {
      t.ok(url.startsWith(`${REPOSITORY}/`), `${page}: ${url}`);
    }
  }
  t.end();
});

void t.test('every published file exists', (t) => {
  for (const path of kit.files.filter((path) => path !== 'dist' && !path.includes('*'))) {
    t.ok(existsSync(join(ROOT, path)), path);
  }
  t.end();
});

void t.test('the publish workflow signs the tarball that it tested', (t) => {
  const { on, permissions, jobs } = readWorkflow('publish');
  t.same(on, { push: { tags: ['v*'] } });
  t.same(permissions, { contents: 'read' }, 'no other job can write');
  const { pack, publish } = jobs;
  t.notOk(pack?.permissions, 'the job that runs the tests can write nothing');
  const [test, upload] = pack?.steps.slice(-2) ?? [];
  t.match(test?.run, /SANDBOX_KIT_TARBALL=\$tarball npm run test:package\ncp "\$tarball" \.\n/);
  t.match(upload, { with: { name: 'tarball', path: 'sandbox-kit-*.tgz' } });

  t.equal(publish?.needs, 'pack');
  t.equal(publish?.permissions?.['id-token'], 'write');
  const commands = (publish?.steps ?? []).flatMap(({ run = [] }) => run);
  t.match(commands, [
    /^npm install --global npm@\d+$/,
    /^npm publish \.\/sandbox-kit-\*\.tgz --provenance /,
  ]);
  t.equal(commands.length, 2, 'the job that can publish runs nothing else');
  t.notOk(publish?.steps.some(({ uses = '' }) => uses.includes('checkout')));
  t.end();
});

void t.test('workflows name actions by commit, because a tag can move', (t) => {
  for (const name of ['ci', 'publish']) {
    const used = Object.values(readWorkflow(name).jobs).flatMap(({ steps }) =>
      steps.flatMap(({ uses = [] }) => uses),
    );
    t.ok(used.length > 0, name);
    for (const uses of used) t.match(uses, /^actions\/[a-z-]+@[0-9a-f]{40}$/, `${name}: ${uses}`);
  }
  t.end();
});

void t.test('workflows run scripts that exist', (t) => {
  for (const name of ['ci', 'publish']) {
    const { jobs } = readWorkflow(name);
    for (const { run = '' } of Object.values(jobs).flatMap(({ steps }) => steps)) {
      for (const [, script = ''] of run.matchAll(/npm run ([\w:]+)/g)) {
        t.ok(script in kit.scripts, `${name}: npm run ${script}`);
      }
      for (const [path] of run.matchAll(/(?:test|\.ci)\/[\w./-]+/g)) {
        t.ok(existsSync(join(ROOT, path)), `${name}: ${path}`);
      }
    }
  }
  t.end();
});

void t.test('the changelog starts with unreleased changes', (t) => {
  const headings = [...read('CHANGELOG.md').matchAll(/^## (.*)$/gm)].map(([, text]) => text);
  t.equal(headings[0], '[Unreleased]');
  t.end();
});

void t.test('the security policy covers each command', (t) => {
  const rows =
    read('SECURITY.md')
      .match(/^\| `.*$/gm)
      ?.join('\n') ?? '';
  for (const { name } of commandEntries) t.ok(rows.includes(`\`${name}\``), name);
  t.end();
});
