/** Finds the imports of packages in compiled files, which have one of three forms. */

/** An import of a package. */
export interface Import {
  specifier: string;
  kind: 'import' | 'require';
  /** The imported names; empty for `require`. */
  names: string[];
}

/** `import protobuf, { Reader } from 'protobufjs/light.js';` */
const STATIC = /^(?:import|export) (?:(\w+)(?:, )?)?(?:\{([^}]*)\} )?\s*from '([^']+)';/gm;
/** `const { generate } = await import('selfsigned')` */
const DYNAMIC = /\bconst \{([^}]*)\} = await import\('([^']+)'\)/g;
/** `createRequire(import.meta.url)('autocannon')` */
const REQUIRE = /\bcreateRequire\(import\.meta\.url\)\('([^']+)'\)/g;

/** Returns the imports of a compiled file, except imports of all names. */
export function findImports(text: string): Import[] {
  const statics = [...text.matchAll(STATIC)].map(
    ([, defaultName, names = '', specifier = '']): Import => ({
      specifier,
      kind: 'import',
      names: [...(defaultName === undefined ? [] : ['default']), ...splitNames(names, ' as ')],
    }),
  );
  const dynamics = [...text.matchAll(DYNAMIC)].map(([, names = '', specifier = '']): Import => ({
    specifier,
    kind: 'import',
    names: splitNames(names, ': '),
  }));
  const required = [...text.matchAll(REQUIRE)].map(([, specifier = '']): Import => ({
    specifier,
    kind: 'require',
    names: [],
  }));
  return [...statics, ...dynamics, ...required];
}

/**
 * Returns the text with new specifiers in these imports.
 *
 * @throws if the text imports one of the packages in another form.
 */
export function replaceImports(
  text: string,
  imports: readonly Import[],
  target: (each: Import) => string,
): string {
  const bySpecifier = Map.groupBy(imports, ({ specifier }) => specifier);
  let replaced = text;
  for (const [specifier, uses] of bySpecifier) {
    const [first] = uses;
    const places = prefixes.flatMap((prefix) => replaced.split(`${prefix}'${specifier}'`).slice(1));
    if (!first || places.length !== uses.length) {
      throw new Error(
        `An import of ${specifier} has an unknown form. Use a form that packaging/imports.ts knows.`,
      );
    }
    for (const prefix of prefixes) {
      replaced = replaced.replaceAll(`${prefix}'${specifier}'`, `${prefix}'${target(first)}'`);
    }
  }
  return replaced;
}

/** Text that precedes a specifier. */
const prefixes = [' from ', 'import(', 'import ', '(import.meta.url)('];

/** Splits `a, b as c` into `a` and `b`. */
function splitNames(names: string, alias: string): string[] {
  return names
    .split(',')
    .map((name) => name.trim().split(alias)[0] ?? '')
    .filter((name) => name !== '');
}
