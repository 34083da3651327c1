/**
 * The types of the last build, and the documented examples for the library and `node:test`, compile
 * with `strict` and without `skipLibCheck`, under the compiler of the repository. The package tests
 * compile them and those for Vitest and Jest under all supported compilers.
 */
import { join } from 'node:path';
import t from 'tap';
import ts from 'typescript';
import {
  messagesProgram,
  readDocumentedExamples,
  reverseImports,
  usagePrograms,
} from '../support/documentation/documented-examples.ts';
import { ROOT } from '../support/repository.ts';

const options: ts.CompilerOptions = {
  strict: true,
  noEmit: true,
  types: [],
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  allowJs: true,
  checkJs: true,
};

const libraries = new Map<string, ts.SourceFile | undefined>();

/** Compiles files in memory, and returns the errors. */
function compile(texts: Readonly<Record<string, string>>): string[] {
  // In the root, imports of sandbox-kit find its own package.json.
  const files = new Map(Object.entries(texts).map(([name, text]) => [join(ROOT, name), text]));
  const host = ts.createCompilerHost(options);
  const memory: ts.CompilerHost = {
    ...host,
    fileExists: (path) => files.has(path) || host.fileExists(path),
    getSourceFile(path, target) {
      const text = files.get(path);
      if (text !== undefined) return ts.createSourceFile(path, text, target);
      if (!libraries.has(path)) libraries.set(path, host.getSourceFile(path, target));
      return libraries.get(path);
    },
  };
  const program = ts.createProgram({ rootNames: [...files.keys()], options, host: memory });
  return ts.getPreEmitDiagnostics(program).map(({ file, messageText, start = 0 }) => {
    const line = file ? file.getLineAndCharacterOfPosition(start).line + 1 : 0;
    return `${file?.fileName ?? ''}:${line} ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
  });
}

/** Returns the examples of a runner, as they stand and with their imports in reverse order. */
function readPrograms(runner: 'library' | 'node'): Record<string, string> {
  const examples = readDocumentedExamples().filter((example) => example.runner === runner);
  return Object.fromEntries(
    [...examples, ...examples.map(reverseImports)].map(({ file, text }) => [file, text]),
  );
}

const ADVICE = 'If dist/ is old, run npm run build.';

void t.test('the types and the examples of the library need no types of Node', (t) => {
  const examples = readPrograms('library');
  t.ok(Object.keys(examples).length > 20, 'the documentation has examples');
  t.same(compile({ ...messagesProgram, ...examples }), [], ADVICE);
  t.end();
});

void t.test('the matchers and the examples for node:test load the types of Node', (t) => {
  const examples = readPrograms('node');
  t.not(Object.keys(examples).length, 0, 'the documentation has examples');
  t.same(compile({ ...usagePrograms, ...examples }), [], ADVICE);
  t.end();
});
