/** The documents in the packed kit: other linters accept them, and a user generates a client from them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createOpenApi } from '../../src/contract/index.ts';
import { ROOT } from '../helpers/repository.ts';
import { createProject } from './tarball.ts';

const KIT = 'node_modules/sandbox-kit';

const lintProgram = `
  import { readFileSync } from 'node:fs';
  import service from 'sandbox-kit/schemas/openapi-service.json' with { type: 'json' };
  import sandbox from 'sandbox-kit/schemas/openapi-sandbox.json' with { type: 'json' };
  import { Parser } from '@asyncapi/parser';
  import { Validator } from '@seriousme/openapi-schema-validator';

  const problems = {};
  for (const [area, document] of Object.entries({ service, sandbox })) {
    const { valid, errors } = await new Validator().validate(structuredClone(document));
    problems[area] = valid ? [] : errors;
  }
  const asyncapi = readFileSync('${KIT}/schemas/asyncapi-voice.json', 'utf8');
  problems.voice = (await new Parser().validate(asyncapi)).map(({ code, message }) => ({ code, message }));
  const broken = (await new Parser().validate(asyncapi.replace('"address"', '"adress"')));
  console.log(JSON.stringify({ problems, finds: broken.some(({ severity }) => severity === 0) }));
`;

void t.test('the official parsers accept the documents of the package', async (t) => {
  const project = await createProject(t, {
    packages: ['@asyncapi/parser@3.6.3', '@seriousme/openapi-schema-validator@2.11.0'],
    files: { 'lint.mjs': lintProgram },
  });
  const { code, stdout, stderr } = await project.run(process.execPath, ['lint.mjs']);
  t.equal(code, 0, stderr);
  const { problems, finds } = JSON.parse(stdout) as {
    problems: Record<string, { code: string }[]>;
    finds: boolean;
  };
  t.ok(finds, 'the parser finds a planted error');
  // 3.0 is the version that most tools read.
  const voice = problems['voice']?.filter((problem) => problem.code !== 'asyncapi-latest-version');
  t.same({ ...problems, voice }, { service: [], sandbox: [], voice: [] });
});

/** Lints the file with the strictest rules of Redocly, and prints its findings as JSON. */
const REDOCLY = [
  ...['node_modules/@redocly/cli/bin/cli.js', 'lint'],
  // The paths of the results end with a slash in the specification (spec 4.3, 4.4).
  ...['--extends=recommended-strict', '--format=json', '--skip-rule=no-path-trailing-slash'],
];

void t.test('a public linter finds nothing, and it finds a planted error', async (t) => {
  const project = await createProject(t, { packages: ['@redocly/cli@2.77.0'] });
  const offline = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', CI: 'true' };
  const lint = async (path: string): Promise<string[]> => {
    const { stdout } = await project.run(process.execPath, [...REDOCLY, path], offline);
    const { problems } = JSON.parse(stdout) as {
      problems: { ruleId: string; message: string; location: [{ pointer: string }] }[];
    };
    return problems.map(
      ({ ruleId, message, location: [{ pointer }] }) => `${ruleId} ${pointer} ${message}`,
    );
  };
  for (const name of ['openapi-service', 'openapi-sandbox', 'asyncapi-voice']) {
    t.same(await lint(`${KIT}/schemas/${name}.json`), [], name);
  }
  const broken = createOpenApi('service');
  const operation = broken.paths['/v1/traces']?.['post'] as { responses: object };
  operation.responses = { 200: { content: {} } };
  project.write({ 'broken.json': JSON.stringify(broken) });
  t.match((await lint('broken.json')).join('\n'), /struct .*description/);
});

void t.test('a user generates, compiles, and runs a client with the package', async (t) => {
  const readClient = (name: string): string =>
    readFileSync(join(ROOT, 'test/generated-client', name), 'utf8');
  const project = await createProject(t, {
    packages: [
      'openapi-fetch@0.17.0',
      'openapi-typescript@7.13.0',
      'typescript@5.9.3',
      '@types/node@26.6.6',
    ],
    files: {
      'tsconfig.json': readClient('tsconfig.json'),
      'service-client.ts': readClient('service-client.ts'),
    },
  });
  const node = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await project.run(process.execPath, args);
    t.equal(code, 0, `${args.join(' ')}: ${stdout}${stderr}`);
    return stdout;
  };
  const command = `${KIT}/bin/sandbox-kit.js`;
  project.write({ 'openapi.json': await node(command, 'schemas', '--openapi', 'service') });
  const generator = 'node_modules/openapi-typescript/bin/cli.js';
  await node(generator, 'openapi.json', '-o', 'service-api.d.ts');
  await node('node_modules/typescript/bin/tsc');
  const output = await node(command, 'exec', '--', process.execPath, 'service-client.ts');
  t.match(output, /"closed":\{[^}]*"status":"evaluating"/);
});
