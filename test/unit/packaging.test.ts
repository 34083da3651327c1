/** The bundle has every file that the kit starts. */
import { readFileSync, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { bundledPackages, typePackages } from '../../packaging/bundled-packages.ts';
import { entryPoints } from '../../packaging/entry-points.ts';
import { ROOT, listFiles } from '../helpers/repository.ts';

interface PackageJson {
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
}
const kit = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as PackageJson;

void t.test('a bundled package is not installed with the kit, and its version is exact', (t) => {
  for (const name of bundledPackages) {
    const version = kit.devDependencies[name] ?? kit.dependencies[name];
    t.match(version, /^\d+\.\d+\.\d+$/, name);
    t.equal(name in kit.dependencies, typePackages.includes(name), name);
  }
  t.end();
});

void t.test(
  'no bundled package is loaded by import(), which has other exports in the bundle',
  (t) => {
    const sources = listFiles().filter((path) =>
      /^(src|reference-agent|conformance|load)\/.*\.ts$/.test(path),
    );
    for (const path of sources) {
      const text = readFileSync(join(ROOT, path), 'utf8');
      const loaded = [...text.matchAll(/(?<!typeof )import\('([^.'][^']*)'\)/g)];
      for (const [, name = ''] of loaded) {
        // Import it statically in a file, and load that file by import().
        t.notOk((bundledPackages as readonly string[]).includes(name), `${path} loads ${name}`);
      }
    }
    t.end();
  },
);

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
    .filter((path) => /^(src|reference-agent|conformance|load)\/.*\.ts$/.test(path))
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
