/**
 * The last step of `npm run build`, after the compiler wrote the type declarations: bundles the
 * sources and most libraries into the JavaScript files of `dist/bundle/`.
 *
 * Every entry point and every target of `import()` is a file there. Code that several of these need
 * is in further files (`chunk-….js`), so that a command loads few files, and no code is there twice.
 * All files are in one directory, because the kit finds the entry points of its threads and
 * processes next to its own file.
 */
import { globSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, transform, type Plugin } from 'esbuild-wasm';
import { typePackages } from './bundled-packages.ts';
import { entryPoints } from './entry-points.ts';
import { collectLicenses } from './licenses.ts';

const ROOT = join(import.meta.dirname, '..');
const DIST = join(ROOT, 'dist');
const OUTPUT = join(DIST, 'bundle');

/** Packages that the bundled libraries load only for features that the kit does not use. */
const unused = [
  // Native modules of ws.
  ...['bufferutil', 'utf-8-validate'],
  // Other implementations of pg's client: native, and for Cloudflare.
  ...['pg-native', 'pg-cloudflare'],
  // Fastify's compilers of schemas (see http-kit/server.ts), and its test client.
  ...['@fastify/ajv-compiler', '@fastify/fast-json-stringify-compiler', 'light-my-request'],
];

/** Node's `require` for CommonJS packages in an ES module. */
const REQUIRE_BANNER =
  "import { createRequire as createNodeRequire } from 'node:module';\n" +
  'const require = createNodeRequire(import.meta.url);';

/** Also shortens the names in the generated validators, by far the largest file. */
const shortenValidators: Plugin = {
  name: 'shorten-validators',
  setup(bundler) {
    bundler.onLoad({ filter: /[/\\]generated[/\\]validators\.ts$/ }, async ({ path }) => {
      const source = readFileSync(path, 'utf8');
      const { code } = await transform(source, { loader: 'ts', minify: true, target: 'node22' });
      return { contents: code, loader: 'js' };
    });
  },
};

/** Returns the files that `import()` loads, and the other entry points that need the shared code. */
function listSharingFiles(): Set<string> {
  const targets = ['src', 'reference-agent', 'conformance', 'load']
    .flatMap((directory) => globSync(`${directory}/**/*.ts`, { cwd: ROOT }))
    .flatMap((path) =>
      [...readFileSync(join(ROOT, path), 'utf8').matchAll(/\bimport\('(\.[^']+)'\)/g)].map(
        ([, target = '']) => join(ROOT, path, '..', target),
      ),
    );
  const names = ['index', 'matchers', 'caller-process'];
  return new Set([...targets, ...names.map((name) => join(ROOT, entryPoints[name] ?? ''))]);
}

/** Imports the shared code in these files, so that it is in one chunk. */
const shareCode: Plugin = {
  name: 'share-code',
  setup(bundler) {
    const shared = JSON.stringify(join(import.meta.dirname, 'shared-code.ts'));
    const files = listSharingFiles();
    bundler.onLoad({ filter: /\.ts$/ }, ({ path }) =>
      files.has(path)
        ? { contents: `import ${shared};\n${readFileSync(path, 'utf8')}`, loader: 'ts' }
        : undefined,
    );
  },
};

async function main(): Promise<void> {
  const { dependencies, optionalDependencies } = JSON.parse(
    readFileSync(join(ROOT, 'package.json'), 'utf8'),
  ) as Record<'dependencies' | 'optionalDependencies', Record<string, string>>;
  const installed = Object.keys({ ...dependencies, ...optionalDependencies }).filter(
    (name) => !typePackages.includes(name),
  );
  // What an earlier build left must not be published.
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
    banner: { js: REQUIRE_BANNER },
    // Reading the files takes time, too. Stack traces keep the names of functions, and short lines.
    minifyWhitespace: true,
    minifySyntax: true,
    lineLimit: 120,
    legalComments: 'none',
    alias: {
      cliui: join(import.meta.dirname, 'cliui.js'),
      'node:http2': join(import.meta.dirname, 'http2.js'),
      'string-width': join(import.meta.dirname, 'string-width.js'),
    },
    external: [...installed, ...unused],
    plugins: [shortenValidators, shareCode],
    metafile: true,
    logLevel: 'warning',
  });
  writeFileSync(join(OUTPUT, 'LICENSES.md'), collectLicenses(ROOT, Object.keys(metafile.inputs)));
}

await main();
