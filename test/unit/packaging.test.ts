/** The bundle has every file that the kit starts. */
import { readFileSync, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { buildTools } from '../../packaging/build-tools.ts';
import { bundledPackages } from '../../packaging/bundled-packages.ts';
import { entryPoints } from '../../packaging/entry-points.ts';
import { ROOT, listFiles } from '../support/repository.ts';

interface PackageJson {
  dependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
  devDependencies: Record<string, string>;
}
const kit = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as PackageJson;

void t.test('a package that the sources import is a dependency with a range, or bundled', (t) => {
  const tools: readonly string[] = buildTools;
  const sources = listFiles().filter(
    (path) =>
      /^(cli|library|reference-agent|conformance|load|src)\/.*\.ts$/.test(path) &&
      !tools.includes(path),
  );
  const bundled: readonly string[] = bundledPackages;
  const used = new Set(sources.flatMap((path) => findLibraries(path)));
  for (const name of used) {
    if (bundled.includes(name)) {
      t.match(kit.devDependencies[name], /^\d+\.\d+\.\d+$/, `${name} is bundled and pinned`);
      t.notOk(name in kit.dependencies, `${name} is not installed as well`);
    } else if (name !== 'sandbox-kit') t.match(kit.dependencies[name], /^\^/, name);
  }
  // The types of the matchers refer to it.
  used.add('@types/node');
  for (const name of [...Object.keys(kit.dependencies), ...bundled]) {
    t.ok(used.has(name), `${name} is used`);
  }
  t.end();
});

/** Returns the packages that a source file imports at run time. */
function findLibraries(path: string): string[] {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const statements =
    /(?:^(?:import|export) (?!type )(?:[^;]*? from )?|(?<!typeof )\b(?:import|requireLibrary)\()'([^'.][^']*)'/gm;
  return [...text.matchAll(statements)].flatMap(([, specifier = '']) =>
    specifier.startsWith('node:') ? [] : (/^(@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? []),
  );
}

void t.test('each package has a reason', (t) => {
  const page = readFileSync(join(ROOT, 'packaging/dependencies.md'), 'utf8');
  const [, installed = '', development = ''] = page.split(/^## .*$/m);
  const listRows = (table: string): string[] =>
    [...table.matchAll(/^\| `(.+?)` \| \S/gm)].map(([, name = '']) => name);
  const { dependencies, optionalDependencies, devDependencies } = kit;
  t.same(
    listRows(installed),
    Object.keys({ ...dependencies, ...optionalDependencies }).sort(),
    'dependencies',
  );
  t.same(listRows(development), Object.keys(devDependencies).sort(), 'development dependencies');
  t.end();
});

void t.test('a service that keeps its data in a file loads no driver of PostgreSQL', (t) => {
  const loaded = new Set(['src/service/index.ts', 'src/service/ingest/thread-entry.ts']);
  for (const path of loaded) {
    const text = readFileSync(join(ROOT, path), 'utf8');
    for (const [, target = ''] of text.matchAll(
      /^(?:import|export) (?!type )[^;]*?'([^']+)';$/gm,
    )) {
      if (target === 'pg') t.fail(`${path} imports pg`);
      if (target.startsWith('.')) loaded.add(join(dirname(path), target));
    }
  }
  t.ok(loaded.has('src/service/store/open-store.ts'), 'the imports are followed');
  t.end();
});

void t.test('every thread and process that the kit starts is an entry point of the bundle', (t) => {
  const names = listFiles()
    .filter((path) => /^(cli|library|reference-agent|conformance|load|src)\/.*\.ts$/.test(path))
    .flatMap((path) => [
      ...readFileSync(join(ROOT, path), 'utf8').matchAll(/new URL\(`([\w-]+)\$\{extname\(/g),
    ])
    .map(([, name = '']) => name);
  t.ok(names.length > 0, 'the sources start some');
  for (const name of names) t.ok(name in entryPoints, name);
  for (const [name, path] of Object.entries(entryPoints)) {
    t.ok(existsSync(join(ROOT, path)), `${name}: ${path}`);
  }
  t.end();
});
