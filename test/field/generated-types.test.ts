/** Types that openapi-typescript generates from the OpenAPI documents fit the clients, and refuse mistakes. */
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { documentPath } from '../helpers/contract-documents.ts';
import { CLIENTS, runProgram, type ClientArea } from '../helpers/generated-client.ts';
import { ROOT } from '../helpers/repository.ts';

const GENERATOR = join(import.meta.dirname, 'node_modules/openapi-typescript/bin/cli.js');
const skip = existsSync(GENERATOR)
  ? false
  : 'openapi-typescript is not installed; run npm run test:field';

/**
 * Generates the types of a client from the document in `schemas/` and returns a folder with these
 * types, the program that uses them, and the settings of the compiler.
 */
async function generateClient(t: Test, area: ClientArea): Promise<string> {
  // A folder in the repository, so that its packages resolve.
  const directory = t.testdir({});
  for (const file of ['tsconfig.json', `${area}-client.ts`]) {
    cpSync(join(CLIENTS, file), join(directory, file));
  }
  const types = join(directory, `${area}-api.d.ts`);
  const document = documentPath(`openapi-${area}.json`);
  const { code, stderr } = await runProgram([GENERATOR, document, '-o', types]);
  t.equal(code, 0, stderr);
  return directory;
}

/** Returns the errors of the TypeScript compiler for a folder; an empty text if there are none. */
async function compile(directory: string): Promise<string> {
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  return (await runProgram([compiler, '-p', directory])).stdout;
}

for (const area of ['service', 'sandbox'] as const) {
  void t.test(
    `the client of the ${area} compiles with the generated types`,
    { skip },
    async (t) => {
      t.equal(await compile(await generateClient(t, area)), '');
    },
  );
}

void t.test('the generated types refuse a wrong request', { skip }, async (t) => {
  const directory = await generateClient(t, 'service');
  const file = join(directory, 'service-client.ts');
  const correct = readFileSync(file, 'utf8');
  const faults: [from: string, to: string, message: RegExp][] = [
    ['failed_only: true', 'failedOnly: true', /failedOnly/],
    ['query: { agent,', 'query: { run: agent,', /run/],
    ["'/v1/sessions/{conversation_id}/end', { params }", "'/v1/sessions/x/end', {}", /sessions/],
    ['traceId: randomBytes', 'trace_id: randomBytes', /trace_id/],
    ['closed.evaluations_queued', 'closed.queued', /queued/],
  ];
  let text = correct;
  for (const [from, to] of faults) {
    t.ok(text.includes(from), from);
    text = text.replace(from, to);
  }
  writeFileSync(file, text);
  const report = await compile(directory);
  for (const [, to, message] of faults) t.match(report, message, to);
});
