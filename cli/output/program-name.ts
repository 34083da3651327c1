import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { readEnvironment } from '../flags/environment.ts';
import type { Variables } from '../process.ts';
import { PROGRAM_NAME } from '../../src/report-kit/program-name.ts';

/**
 * Returns how the user types the name of the program, so that printed commands can be copied. The name
 * starts with npx if npm started the program (npx, or a script of a project), or if the program is not
 * on the PATH.
 */
export function findProgramName(env: Variables): string {
  const { PATH = '', npm_command: npmCommand, npm_lifecycle_event: script } = readEnvironment(env);
  // npm puts the programs of a project on the PATH, where the user's shell does not find them.
  const isStartedByNpm = npmCommand !== undefined || script !== undefined;
  return !isStartedByNpm && isOnPath(PATH) ? PROGRAM_NAME : `npx ${PROGRAM_NAME}`;
}

const isOnPath = (path: string): boolean =>
  path
    .split(delimiter)
    .filter((directory) => directory !== '')
    .some((directory) =>
      ['', '.cmd'].some((extension) => existsSync(join(directory, `${PROGRAM_NAME}${extension}`))),
    );
