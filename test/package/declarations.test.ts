/**
 * The types of the packed kit, and all examples of the documentation, compile with `strict` and without
 * `skipLibCheck`, under the supported versions of TypeScript with their default types. The current
 * OpenTelemetry packages, which users install next to the kit, do not disturb that.
 */
import t from 'tap';
import {
  messagesProgram,
  readDocumentedExamples,
  reverseImports,
  usagePrograms,
  type DocumentedExample,
} from '../support/documentation/documented-examples.ts';
import { createProject, type Project } from './tarball.ts';

/** `all`: every package of `@types`, the default of TypeScript 5; `none`: that of 6 and later. */
type Types = 'all' | 'none' | 'node';

const compilers: Record<string, Types[]> = {
  '5.9.3': ['all', 'none'],
  '6.0.3': ['none', 'node'],
  '7.0.2': ['none', 'node'],
};

const packages = [
  ...Object.keys(compilers).map((version) => `typescript-${version}@npm:typescript@${version}`),
  ...['vitest@5.1.1', 'jest@30.5.2', '@types/jest@30.0.0'],
  ...['api', 'resources', 'sdk-node', 'sdk-trace'].map((name) => `@opentelemetry/${name}`),
  ...['http', 'proto'].map((encoding) => `@opentelemetry/exporter-trace-otlp-${encoding}`),
];

const resolutions = {
  nodenext: { module: 'nodenext', moduleResolution: 'nodenext' },
  bundler: { module: 'preserve', moduleResolution: 'bundler' },
};

const examples = readDocumentedExamples();
const reversed = examples.map(reverseImports);

/** What the matchers return, and which names they take, in a runner. */
const createMatcherProgram = (runner: string): string => `
  import 'sandbox-kit/matchers/${runner}';
  import { expect } from '${runner === 'jest' ? '@jest/globals' : runner}';
  expect({}).toConform() satisfies void;
  expect({}).not.toHavePassedEval('Refunded') satisfies void;
  expect(Promise.resolve({})).resolves.toConform() satisfies Promise<unknown>;
  expect({}).toEqual({ health: expect.toBeValidMessage('Health') });
  // @ts-expect-error An unknown message.
  expect({}).toBeValidMessage('Healthy');
`;

/** The test with the globals of `@types/jest`. */
const globalJestProgram = `
  import 'sandbox-kit/matchers/jest';
  expect({}).toConform();
  expect({}).not.toHavePassedEval('Refunded');
  // @ts-expect-error An unknown message.
  expect({}).toBeValidMessage('Healthy');
`;

const filesOf = (list: readonly DocumentedExample[]): Record<string, string> =>
  Object.fromEntries(list.map(({ file, text }) => [file, text]));

const select = (
  list: readonly DocumentedExample[],
  runner: DocumentedExample['runner'],
): Record<string, string> => filesOf(list.filter((example) => example.runner === runner));

/** Files that are compiled together. One file must not make up for the missing import of another. */
const programs: Record<string, Record<string, string>> = {
  library: { ...messagesProgram, ...select(examples, 'library'), ...select(reversed, 'library') },
  node: { ...usagePrograms, ...select(examples, 'node'), ...select(reversed, 'node') },
  vitest: { ...select(examples, 'vitest'), 'vitest-matchers.ts': createMatcherProgram('vitest') },
  'vitest, reversed imports': select(reversed, 'vitest'),
  jest: { ...select(examples, 'jest'), 'jest-matchers.ts': createMatcherProgram('jest') },
  'jest, reversed imports': select(reversed, 'jest'),
};

void t.test('types and documented examples compile strictly', { timeout: 3_600_000 }, async (t) => {
  for (const runner of ['library', 'node', 'vitest', 'jest'] as const) {
    const count = Object.keys(select(examples, runner)).length;
    t.not(count, 0, `the documentation has examples for ${runner}`);
  }
  const files = { ...Object.assign({}, ...Object.values(programs)) } as Record<string, string>;
  const project = await createProject(t, { packages, files });
  for (const [version, types] of Object.entries(compilers)) {
    for (const [resolution, options] of Object.entries(resolutions)) {
      for (const [name, program] of Object.entries(programs)) {
        for (const each of types) {
          const settings = { ...options, ...typesOptions[each] };
          const output = await compile(project, version, settings, Object.keys(program));
          t.equal(output, '', `TypeScript ${version}, ${resolution}, types: ${each}: ${name}`);
        }
      }
      // A project that has neither the DOM library nor the types of Node.
      const output = await compile(
        project,
        version,
        { ...options, lib: ['es2024'], types: [] },
        Object.keys(messagesProgram),
      );
      t.equal(
        output,
        '',
        `TypeScript ${version}, ${resolution}, lib: es2024, types: none: messages`,
      );
    }
    project.write({ 'jest-globals.ts': globalJestProgram });
    const settings = { ...resolutions.nodenext, types: ['jest'] };
    const output = await compile(project, version, settings, ['jest-globals.ts']);
    t.equal(output, '', `TypeScript ${version}: globals of @types/jest`);
  }
});

const typesOptions: Record<Types, { types?: string[] }> = {
  all: {},
  none: { types: [] },
  node: { types: ['node'] },
};

/** Compiles files, and returns the errors. */
async function compile(
  project: Project,
  version: string,
  settings: object,
  files: readonly string[],
): Promise<string> {
  const compilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: false,
    target: 'es2023',
    allowJs: true,
    checkJs: true,
    ...settings,
  };
  project.write({ 'tsconfig.json': JSON.stringify({ compilerOptions, files }) });
  const compiler = `node_modules/typescript-${version}/bin/tsc`;
  const { code, stdout, stderr } = await project.run(process.execPath, [compiler]);
  return code === 0 ? stdout : `exit code ${String(code)}\n${stdout}${stderr}`.slice(0, 3_000);
}
