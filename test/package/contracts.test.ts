/** The documents in the packed kit: other linters accept them, and a user generates a client from them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { createOpenApi } from '../../src/contract/index.ts';
import { ROOT } from '../support/repository.ts';
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

interface LintReport {
  problems: { ruleId: string; message: string; location: [{ pointer: string }] }[];
}

void t.test('the strictest rules of a public linter accept the documents', async (t) => {
  const project = await createProject(t, { packages: ['@redocly/cli@2.77.0'] });
  const lint = async (path: string): Promise<string[]> => {
    const args = ['lint', path, '--extends=recommended-strict', '--format=json'];
    // The paths of the results end with a slash in the specification (spec 4.3, 4.4).
    args.push('--skip-rule=no-path-trailing-slash');
    const { stdout } = await project.run(
      process.execPath,
      ['node_modules/@redocly/cli/bin/cli.js', ...args],
      { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', CI: 'true' },
    );
    const { problems } = JSON.parse(stdout) as LintReport;
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
  t.match((await lint('broken.json')).join('\n'), /struct .*description/, 'a planted error');
});

const readClient = (name: string): string =>
  readFileSync(join(ROOT, 'test/generated-client', name), 'utf8');

/** A change of the client that its types must refuse, and the error. */
const wrongRequests: [from: string, to: string, message: RegExp][] = [
  ['failed_only: true', 'failedOnly: true', /failedOnly/],
  ['query: { agent,', 'query: { run: agent,', /run/],
  ["'/v1/sessions/{conversation_id}/end', { params }", "'/v1/sessions/x/end', {}", /sessions/],
  ['traceId: randomBytes', 'trace_id: randomBytes', /trace_id/],
  ['closed.evaluations_queued', 'closed.queued', /queued/],
];

void t.test('a user generates, compiles, and runs a client with the package', async (t) => {
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
      'sandbox-client.ts': readClient('sandbox-client.ts'),
    },
  });
  const node = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await project.run(process.execPath, args);
    t.equal(code, 0, `${args.join(' ')}: ${stdout}${stderr}`);
    return stdout;
  };
  const command = `${KIT}/bin/sandbox-kit.js`;
  const generator = 'node_modules/openapi-typescript/bin/cli.js';
  for (const area of ['service', 'sandbox']) {
    project.write({ 'openapi.json': await node(command, 'schemas', '--openapi', area) });
    await node(generator, 'openapi.json', '-o', `${area}-api.d.ts`);
  }
  const compiler = 'node_modules/typescript/bin/tsc';
  await node(compiler);
  const output = await node(command, 'exec', '--', process.execPath, 'service-client.ts');
  t.match(output, /"closed":\{[^}]*"status":"evaluating"/);

  let wrong = readClient('service-client.ts');
  for (const [from, to] of wrongRequests) {
    t.ok(wrong.includes(from), from);
    wrong = wrong.replace(from, to);
  }
  project.write({ 'service-client.ts': wrong });
  const { stdout: errors } = await project.run(process.execPath, [compiler]);
  for (const [, to, message] of wrongRequests) t.match(errors, message, `an error for ${to}`);
});
