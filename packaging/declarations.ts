/**
 * Removes the type declarations that no entry point of package.json needs, and replaces types of
 * libraries that users don't have with `any`, so that the declarations compile without
 * `skipLibCheck`.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** Entry points of a package: a file, or files by condition. */
type Exports = string | { [condition: string]: Exports };

/** Removes unused declarations, and replaces the types of absent packages with `any`. */
export function reduceDeclarations(root: string, absentPackages: readonly string[]): void {
  const dist = join(root, 'dist');
  const kept = findDeclarations(root);
  for (const path of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    const file = join(dist, path);
    if (file.endsWith('.d.ts') && !kept.has(file)) rmSync(file);
  }
  const isAbsent = (specifier: string): boolean =>
    absentPackages.some((name) => `${specifier}/`.startsWith(`${name}/`));
  const opaque = new Map<string, Set<string>>();
  for (const file of kept) {
    const text = readFileSync(file, 'utf8');
    const absent = new Set(findSpecifiers(text).filter(isAbsent));
    if (absent.size === 0) continue;
    let replaced = text;
    for (const specifier of absent) {
      const names = opaque.get(specifier) ?? new Set<string>();
      for (const name of findTypeNames(text, specifier)) names.add(name);
      opaque.set(specifier, names);
      const declaration = opaqueFileOf(dist, specifier);
      const path = relative(dirname(file), declaration).replace(/\.d\.ts$/, '.js');
      const target = path.startsWith('.') ? path : `./${path}`;
      replaced = replaced.replaceAll(
        new RegExp(`(['"])${escapePattern(specifier)}\\1`, 'g'),
        `'${target}'`,
      );
    }
    writeFileSync(file, replaced);
  }
  for (const [specifier, names] of opaque) writeOpaqueTypes(opaqueFileOf(dist, specifier), names);
}

/** Returns the declarations that the entry points import, directly or indirectly. */
function findDeclarations(root: string): Set<string> {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    exports: Exports;
  };
  const kept = new Set<string>();
  const waiting = listFiles(exports)
    .filter((path) => path.endsWith('.d.ts'))
    .map((path) => join(root, path));
  for (const file of waiting) {
    if (kept.has(file)) continue;
    if (!existsSync(file)) throw new Error(`${file} is missing, but a declaration imports it.`);
    kept.add(file);
    const specifiers = findSpecifiers(readFileSync(file, 'utf8'));
    for (const specifier of specifiers.filter((each) => each.startsWith('.'))) {
      if (specifier.endsWith('.json')) continue;
      waiting.push(join(dirname(file), specifier.replace(/(\.[jt]s)?$/, '.d.ts')));
    }
  }
  return kept;
}

function listFiles(exports: Exports): string[] {
  return typeof exports === 'string' ? [exports] : Object.values(exports).flatMap(listFiles);
}

function findSpecifiers(text: string): string[] {
  const matches = text.matchAll(/(?:\bfrom |\bimport\(|^import )['"]([^'"]+)['"]/gm);
  return [...matches].map(([, specifier = '']) => specifier);
}

/** Returns the names that a declaration imports from a package; `default` for a default import. */
function findTypeNames(text: string, specifier: string): string[] {
  const quoted = `['"]${escapePattern(specifier)}['"]`;
  const statements = text.matchAll(
    new RegExp(
      `^(?:import|export) (?:type )?(?:(\\w+)(?:, )?)?(?:\\{([^}]*)\\} )?from ${quoted}`,
      'gm',
    ),
  );
  const inline = text.matchAll(new RegExp(`import\\(${quoted}\\)\\.(\\w+)`, 'g'));
  return [
    ...[...statements].flatMap(([, defaultName, names = '']) => [
      ...(defaultName === undefined ? [] : ['default']),
      ...names.split(',').map(
        (name) =>
          name
            .trim()
            .replace(/^type /, '')
            .split(' as ')[0] ?? '',
      ),
    ]),
    ...[...inline].map(([, name = '']) => name),
  ].filter((name) => name !== '');
}

const opaqueFileOf = (dist: string, specifier: string): string =>
  join(dist, 'types/opaque', `${specifier.replace(/\.js$/, '').replaceAll('/', '-')}.d.ts`);

function writeOpaqueTypes(file: string, names: ReadonlySet<string>): void {
  const lines = [...names]
    .sort()
    .map((name) =>
      name === 'default'
        ? 'declare const value: any;\nexport default value;'
        : `export type ${name}<A = any, B = any, C = any, D = any> = any;\nexport declare const ${name}: any;`,
    );
  mkdirSync(dirname(file), { recursive: true });
  const comment = '/** Types of a library that the kit uses internally. */';
  writeFileSync(file, [comment, ...lines, ''].join('\n'));
}

const escapePattern = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&');
