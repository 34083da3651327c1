import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { ROOT } from './repository.ts';

/** The directory with the programs. */
export const CLIENTS = join(ROOT, 'test/generated-client');

/** The area of a program in `test/generated-client/`. */
export type ClientArea = 'service' | 'sandbox';

export interface ProgramResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs the program of an area. */
export const runClient = (area: ClientArea, env: Record<string, string>): Promise<ProgramResult> =>
  runProgram([join(CLIENTS, `${area}-client.ts`)], env);

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
