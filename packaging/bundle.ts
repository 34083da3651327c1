/**
 * The last step of `npm run build`, after the compiler: writes the bundled packages and their
 * licenses to `dist/vendor/`, makes the compiled files import them from there, and removes type
 * declarations that no entry point needs.
 */
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync, mkdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { build, transform, type Metafile } from 'esbuild-wasm';
import { bundledPackages, typePackages } from './bundled-packages.ts';
import { findImports, replaceImports, type Import } from './imports.ts';
import { collectLicenses } from './licenses.ts';
import { reduceDeclarations } from './declarations.ts';

const ROOT = join(import.meta.dirname, '..');
const DIST = join(ROOT, 'dist');
const VENDOR = join(DIST, 'vendor');

/** Defines `require` for CommonJS packages in an ES module. */
const REQUIRE_BANNER =
  "import { createRequire as createNodeRequire } from 'node:module';\n" +
  'const require = createNodeRequire(import.meta.url);';

/** A library in one file, with the names that the kit imports. */
interface Bundle {
  specifier: string;
  kind: Import['kind'];
  names: Set<string>;
}

const isBundled = (specifier: string): boolean =>
  bundledPackages.some((name) => specifier === name || specifier.startsWith(`${name}/`));

const fileNameOf = ({ specifier, kind }: Pick<Bundle, 'specifier' | 'kind'>): string => {
  const name = specifier.replace(/\.js$/, '').replaceAll('/', '-').replace('@', '');
  return `${name}.${kind === 'require' ? 'cjs' : 'mjs'}`;
};

/** Rewrites the imports of bundled packages in the compiled files, and returns the bundles. */
function rewriteImports(): Bundle[] {
  const bundles = new Map<string, Bundle>();
  for (const file of listFiles(DIST).filter((path) => path.endsWith('.js'))) {
    const text = readFileSync(file, 'utf8');
    const imports = findImports(text).filter(({ specifier }) => isBundled(specifier));
    if (imports.length === 0) continue;
    for (const { specifier, kind, names } of imports) {
      const bundle = bundles.get(specifier) ?? { specifier, kind, names: new Set<string>() };
      if (bundle.kind !== kind) throw new Error(`${file} imports and requires ${specifier}.`);
      for (const name of names) bundle.names.add(name);
      bundles.set(specifier, bundle);
    }
    const target = (each: Import): string => {
      const path = relative(join(file, '..'), join(VENDOR, fileNameOf(each)));
      return path.startsWith('.') ? path : `./${path}`;
    };
    writeFileSync(file, replaceImports(text, imports, target));
  }
  return [...bundles.values()];
}

/** Writes a bundle, and returns the list of its source files. */
async function writeBundle(bundle: Bundle): Promise<Metafile> {
  const { specifier, kind, names } = bundle;
  const contents =
    kind === 'require'
      ? `module.exports = require('${specifier}');`
      : `export { ${[...names].sort().join(', ')} } from '${specifier}';`;
  const { metafile } = await build({
    stdin: { contents, resolveDir: ROOT, loader: 'js' },
    outfile: join(VENDOR, fileNameOf(bundle)),
    bundle: true,
    platform: 'node',
    target: 'node22',
    format: kind === 'require' ? 'cjs' : 'esm',
    ...(kind === 'import' && { banner: { js: REQUIRE_BANNER } }),
    // Identifiers are kept, so that stack traces are readable.
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    alias: { 'string-width': join(import.meta.dirname, 'string-width.js') },
    // Optional native modules of ws.
    external: ['bufferutil', 'utf-8-validate'],
    metafile: true,
    logLevel: 'warning',
    absWorkingDir: ROOT,
  });
  return metafile;
}

function listFiles(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((path) => join(directory, path))
    .filter((path) => statSync(path).isFile());
}

/** Minifies the generated validators, by far the largest file, to a third of their size. */
async function shortenValidators(): Promise<void> {
  const file = join(DIST, 'src/contract/generated/validators.js');
  const { code } = await transform(readFileSync(file, 'utf8'), { minify: true, target: 'node22' });
  writeFileSync(file, code);
}

async function main(): Promise<void> {
  rmSync(VENDOR, { recursive: true, force: true });
  const bundles = rewriteImports();
  const missing = bundledPackages.filter(
    (name) => !bundles.some(({ specifier }) => `${specifier}/`.startsWith(`${name}/`)),
  );
  if (missing.length > 0) throw new Error(`No compiled file imports ${missing.join(', ')}.`);
  mkdirSync(VENDOR, { recursive: true });
  const inputs = new Set<string>();
  for (const bundle of bundles) {
    const { inputs: files } = await writeBundle(bundle);
    for (const file of Object.keys(files)) inputs.add(file);
  }
  writeFileSync(join(VENDOR, 'LICENSES.md'), collectLicenses(ROOT, inputs));
  await shortenValidators();
  const absent = bundledPackages.filter((name) => !typePackages.includes(name));
  // The types of better-sqlite3 are in a package that users don't have.
  reduceDeclarations(ROOT, [...absent, 'better-sqlite3']);
}

await main();
