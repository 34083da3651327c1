/** The entry points, types, licenses, and links of the tarball are valid for registries and tools. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { bundledPackages } from '../../packaging/bundled-packages.ts';
import { createEmptyProject, createProject, packKit } from './tarball.ts';

const PUBLINT = 'publint@0.3.25';
const ATTW = '@arethetypeswrong/cli@0.18.5';

void t.test('publint and Are the types wrong find nothing', async (t) => {
  const project = createEmptyProject(t);
  const { code, stderr } = await project.install(PUBLINT, ATTW);
  t.equal(code, 0, 'installs the tools', { stderr });
  const publint = await project.run(tool(project.directory, 'publint'), ['--strict', packKit()]);
  t.equal(publint.code, 0, 'publint', publint);
  // It exits before a pipe has all of its output.
  const command = `"$0" "$1" --format json > attw.json`;
  await project.run('sh', ['-c', command, tool(project.directory, 'attw'), packKit()]);
  const output = readFileSync(join(project.directory, 'attw.json'), 'utf8');
  const { problems } = JSON.parse(output) as { problems: Record<string, Problem[]> };
  const all = Object.values(problems).flat();
  t.ok(all.length > 0, 'the tool reports that CommonJS and old resolvers do not find the types');
  t.same(all.filter(isRelevant), [], 'Are the types wrong');
});

/** A finding of Are the types wrong. */
interface Problem {
  kind: string;
  resolutionKind?: string;
  resolutionOption?: string;
}

/** The kit is ESM only, and Node 22.19 can require it. Resolvers of older tools are not supported. */
function isRelevant({ resolutionKind, resolutionOption }: Problem): boolean {
  return !['node10', 'node16-cjs'].includes(resolutionKind ?? resolutionOption ?? '');
}

/** A package in the bill of materials. */
interface Component {
  name: string;
  licenses?: object[];
  pedigree?: { patches: object[] };
}

void t.test('the package contains its licenses and instructions', async (t) => {
  const project = await createProject(t);
  const root = join(project.directory, 'node_modules/sandbox-kit');
  const files = [
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'SECURITY.md',
    'THIRD-PARTY-NOTICES.md',
    'dist/bundle/LICENSES.md',
    'dist/bundle/sbom.cdx.json',
    'llms.txt',
    'shipped/browser/call.js',
    'shipped/skills/sandbox-kit/SKILL.md',
  ];
  for (const file of files) t.ok(existsSync(join(root, file)), file);
  const licenses = readFileSync(join(root, 'dist/bundle/LICENSES.md'), 'utf8');
  const bill = readFileSync(join(root, 'dist/bundle/sbom.cdx.json'), 'utf8');
  const { components } = JSON.parse(bill) as { components: Component[] };
  for (const name of bundledPackages) {
    t.match(licenses, new RegExp(`^## ${name} \\d`, 'm'), name);
    t.ok(components.find((each) => each.name === name)?.licenses, `the license of ${name}`);
  }
  const werift = components.find(({ name }) => name === 'werift');
  t.ok(werift?.pedigree?.patches.length, 'the patches of werift');
  for (const { name } of components) t.ok(licenses.includes(`\n## ${name} `), name);
  t.notOk(existsSync(join(root, 'packaging')), 'without the build');
});

const tool = (directory: string, name: string): string =>
  join(directory, 'node_modules/.bin', name);
