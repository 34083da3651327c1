/**
 * Puts the files that many commands need into one chunk. Without this plugin, esbuild makes a chunk for
 * each set of entry points that need the same files. That would be dozens of tiny chunks, and each takes
 * about half a millisecond to load.
 */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Plugin } from 'esbuild-wasm';

/** A file is shared if at least this many files that are loaded on their own need it. */
const USERS_MIN = 9;

/** The libraries that shared files may load, because every command does. */
const COMMON_LIBRARIES: readonly string[] = ['zod'];

/** The imports of a source file. Types are not imports. */
interface Imports {
  files: string[];
  libraries: string[];
  /** Targets of `import()`. */
  loaded: string[];
}

/**
 * Returns a plugin that makes these entry points, and all targets of `import()` that they lead to,
 * import the shared files.
 */
export function shareChunk(root: string, entryPoints: readonly string[]): Plugin {
  const sources = ['cli', 'library', 'reference-agent', 'conformance', 'load', 'src']
    .flatMap((directory) => globSync(`${directory}/**/*.ts`, { cwd: root }))
    .map((path) => join(root, path));
  const imports = new Map(sources.map((path) => [path, readImports(path)]));
  const targets = new Set([
    ...[...imports.values()].flatMap(({ loaded }) => loaded),
    ...entryPoints.map((path) => join(root, path)),
  ]);
  const shared = listSharedFiles(imports, targets);
  const statement = shared.map((path) => `import ${JSON.stringify(path)};\n`).join('');
  // A shared file that imported all others would run them in a different order than the sources.
  const importers = new Set([...targets].filter((path) => !shared.includes(path)));
  return {
    name: 'share-chunk',
    setup(bundler) {
      bundler.onLoad({ filter: /\.ts$/ }, ({ path }) =>
        importers.has(path)
          ? { contents: statement + readFileSync(path, 'utf8'), loader: 'ts' }
          : undefined,
      );
    },
  };
}

function listSharedFiles(
  imports: ReadonlyMap<string, Imports>,
  targets: ReadonlySet<string>,
): string[] {
  const closures = [...targets].map((target) => findClosure(imports, target));
  return [...imports.keys()].filter((path) => {
    if (closures.filter((closure) => closure.has(path)).length < USERS_MIN) return false;
    return [...findClosure(imports, path)].every((each) =>
      imports.get(each)?.libraries.every((name) => COMMON_LIBRARIES.includes(name)),
    );
  });
}

/** Returns a file and all files that are loaded with it. */
function findClosure(imports: ReadonlyMap<string, Imports>, start: string): Set<string> {
  const closure = new Set([start]);
  for (const path of closure) {
    for (const each of imports.get(path)?.files ?? []) closure.add(each);
  }
  return closure;
}

function readImports(path: string): Imports {
  const text = readFileSync(path, 'utf8');
  const statements = /^(?:import|export) (?!type )(?:[^;]*? from )?'([^']+)'/gm;
  const specifiers = [...text.matchAll(statements)].map(([, specifier = '']) => specifier);
  const isFile = (specifier: string): boolean => specifier.startsWith('.');
  const resolve = (specifier: string): string => join(dirname(path), specifier);
  return {
    files: specifiers.filter(isFile).map(resolve),
    libraries: specifiers.filter((each) => !isFile(each) && !each.startsWith('node:')),
    loaded: [...text.matchAll(/\bimport\('(\.[^']+)'\)/g)].map(([, target = '']) =>
      resolve(target),
    ),
  };
}
