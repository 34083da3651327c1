/**
 * The last step of `npm run build`, after the compiler wrote the type declarations: bundles the
 * sources into the JavaScript files of `dist/bundle/`.
 *
 * Every entry point and every target of `import()` is a file there. Code that several of these need
 * is in further files (`chunk-….js`). All files are in one directory, because the kit finds the entry
 * points of its threads and processes next to its own file. Libraries are imported from the
 * dependencies of the package, except those in `packaging/bundled-packages.ts`.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build, transform } from 'esbuild-wasm';
import { entryPoints } from './entry-points.ts';
import { findLibraries, formatBillOfMaterials, formatLicenses } from './licenses.ts';
import { shareChunk } from './shared-chunk.ts';

const ROOT = join(import.meta.dirname, '..');
const DIST = join(ROOT, 'dist');
const OUTPUT = join(DIST, 'bundle');

/** The files that programs of users load first. `bin/sandbox-kit.js` checks the version itself. */
const LIBRARY_FILES = ['index.js', 'matchers.js'];

/** The first line of these files: the check of the version of Node must run before any other code. */
const CHECK_NODE = `import '../../bin/check-node.js';\n`;

/** The first lines of files with CommonJS packages: Node's `require` in an ES module. */
const CREATE_REQUIRE = `import { createRequire as createNodeRequire } from 'node:module';
const require = createNodeRequire(import.meta.url);
`;

/** The generated validators, by far the largest file; `src/contract/validators.ts` loads it. */
const VALIDATORS = 'generated/validators.cjs';

interface Kit {
  name: string;
  version: string;
  dependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
}

async function main(): Promise<void> {
  const kit = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Kit;
  // Files of an earlier build must not be published.
  for (const name of readdirSync(DIST).filter((each) => each !== 'types')) {
    rmSync(join(DIST, name), { recursive: true });
  }
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: { ...entryPoints },
    outdir: OUTPUT,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    // Reading the files takes time, too. Stack traces keep the names of functions, and short lines.
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: 120,
    legalComments: 'none',
    external: Object.keys({ ...kit.dependencies, ...kit.optionalDependencies }),
    plugins: [
      shareChunk(ROOT, [entryPoints.index, entryPoints.matchers, entryPoints['caller-process']]),
    ],
    metafile: true,
    logLevel: 'warning',
  });
  readdirSync(OUTPUT).forEach(addFirstLines);
  const validators = readFileSync(join(ROOT, 'src/contract', VALIDATORS), 'utf8');
  const { code } = await transform(validators, { minify: true, target: 'node22' });
  mkdirSync(dirname(join(OUTPUT, VALIDATORS)));
  writeFileSync(join(OUTPUT, VALIDATORS), code);
  const libraries = findLibraries(ROOT, Object.keys(metafile.inputs));
  writeFileSync(join(OUTPUT, 'LICENSES.md'), formatLicenses(libraries));
  writeFileSync(join(OUTPUT, 'sbom.cdx.json'), formatBillOfMaterials(kit, libraries));
}

/** Adds the lines that a file of the bundle needs first: each import takes time at every start. */
function addFirstLines(name: string): void {
  const path = join(OUTPUT, name);
  const code = readFileSync(path, 'utf8');
  const isLibrary = LIBRARY_FILES.includes(name);
  const usesRequire = /\brequire\b/.test(code);
  const firstLines = (isLibrary ? CHECK_NODE : '') + (usesRequire ? CREATE_REQUIRE : '');
  writeFileSync(path, firstLines + code);
}

await main();
