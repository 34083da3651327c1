import { execFile } from 'node:child_process';
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { documentPath } from './contract-documents.ts';
import { ROOT } from './repository.ts';

const SOURCES = join(ROOT, 'test/generated-client');

/** The area of a program in `test/generated-client/`. */
export type ClientArea = 'service' | 'sandbox';

export interface ProgramResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a program with Node. The result of a program that hangs has the code 1. */
export async function runProgram(
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<ProgramResult> {
  const { PATH = '', HOME = '' } = process.env;
  return new Promise((resolve) => {
    const options = { env: { PATH, HOME, ...env }, cwd: ROOT, timeout: 300_000 };
    execFile(process.execPath, args, options, (error, stdout, stderr) => {
      const code = typeof error?.code === 'number' ? error.code : Number(error !== null);
      resolve({ code, stdout, stderr });
    });
  });
}

/**
 * Generates the types of a client from the document in `schemas/` and returns a folder with these
 * types, the program that uses them, and the settings of the compiler.
 */
export async function generateClient(t: Test, area: ClientArea): Promise<string> {
  // A folder in the repository, so that its packages resolve.
  const directory = t.testdir({});
  for (const file of ['tsconfig.json', `${area}-client.ts`]) {
    cpSync(join(SOURCES, file), join(directory, file));
  }
  const generator = join(ROOT, 'node_modules/openapi-typescript/bin/cli.js');
  const types = join(directory, `${area}-api.d.ts`);
  const document = documentPath(`openapi-${area}.json`);
  const { code, stderr } = await runProgram([generator, document, '-o', types]);
  t.equal(code, 0, stderr);
  return directory;
}

/** Returns the errors of the TypeScript compiler for a folder; an empty text if there are none. */
export async function compile(directory: string): Promise<string> {
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  return (await runProgram([compiler, '-p', directory])).stdout;
}
