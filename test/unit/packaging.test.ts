/** The build finds every import of a bundled package, and type declarations need no absent package. */
import { mkdirSync, readFileSync, existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { bundledPackages, typePackages } from '../../packaging/bundled-packages.ts';
import { reduceDeclarations } from '../../packaging/declarations.ts';
import { findImports, replaceImports } from '../../packaging/imports.ts';
import { ROOT } from '../helpers/repository.ts';

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

void t.test('every form of import is found and replaced', (t) => {
  const text = [
    "import protobuf, {} from 'protobufjs/light.js';",
    'import {',
    '    MediaStreamTrack as Track,',
    '    RTCPeerConnection,',
    "} from 'werift';",
    "const { generate: make } = await import('selfsigned');",
    "const start = createRequire(import.meta.url)('autocannon');",
  ].join('\n');
  const imports = findImports(text);
  t.same(
    imports.map(({ specifier, kind, names }) => [specifier, kind, ...names]),
    [
      ['protobufjs/light.js', 'import', 'default'],
      ['werift', 'import', 'MediaStreamTrack', 'RTCPeerConnection'],
      ['selfsigned', 'import', 'generate'],
      ['autocannon', 'require'],
    ],
  );
  const replaced = replaceImports(text, imports, ({ specifier }) => `./vendor/${specifier}`);
  t.equal(replaced.match(/'\.\/vendor\//g)?.length, 4, replaced);
  t.end();
});

void t.test('another form of import is an error instead of a missing package', (t) => {
  const text = "import { z } from 'zod';\nexport * as all from 'zod';\n";
  t.throws(
    () => replaceImports(text, findImports(text), () => './x.js'),
    /An import of zod has an unknown form/,
  );
  const word = "import { WebSocket } from 'ws';\nconst scheme = 'ws';\n";
  const replaced = replaceImports(word, findImports(word), () => './x.js');
  t.equal(
    replaced,
    "import { WebSocket } from './x.js';\nconst scheme = 'ws';\n",
    'other text stays',
  );
  t.end();
});

void t.test('declarations that no entry point needs are removed', (t) => {
  const root = createPackage(t, {
    'dist/index.d.ts': "export { run } from './run.ts';\n",
    'dist/run.d.ts': "import { type Socket } from 'ws';\nexport declare function run(): Socket;\n",
    'dist/internal.d.ts': 'export declare const internal: number;\n',
  });
  reduceDeclarations(root, ['ws']);
  t.notOk(existsSync(join(root, 'dist/internal.d.ts')));
  t.match(readFileSync(join(root, 'dist/run.d.ts'), 'utf8'), /from '.\/vendor\/types\/ws.js'/);
  t.match(readFileSync(join(root, 'dist/vendor/types/ws.d.ts'), 'utf8'), /export type Socket</);
  t.end();
});

function createPackage(t: Test, files: Record<string, string>): string {
  const root = t.testdir();
  const exports = { '.': { types: './dist/index.d.ts', default: './dist/index.js' } };
  const all = { 'package.json': JSON.stringify({ exports }), ...files };
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}
