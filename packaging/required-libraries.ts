/**
 * Loads libraries with `require` instead of `import` in the bundle. Node then looks for fewer files,
 * doesn't search CommonJS for the names that it exports, and loads all of zod in two thirds of the
 * time.
 */

/** The libraries that programs load when they start, if they have a form for `require`. */
const LIBRARIES: readonly string[] = ['fastify', 'undici', 'ws', 'zod'];

const IMPORT = /\bimport(\s*\*\s*as\s+|\s+)?([\w$]+|\{[^{}]*\})\s*from\s*"([^"]+)";/g;

/** Replaces the imports of these libraries in a file of the bundle. */
export function requireLibraries(code: string): string {
  return code.replaceAll(IMPORT, (statement, _form, names: string, library: string) =>
    LIBRARIES.includes(library)
      ? `const ${names.replaceAll(/\sas\s/g, ':')}=require("${library}");`
      : statement,
  );
}
