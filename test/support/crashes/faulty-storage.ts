/** Lets the storage of a process fail while it runs, with a library that the test builds. */
import { spawnSync } from 'node:child_process';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** How a storage fails. */
export interface StorageFault {
  operation: 'sync' | 'write';
  /** `torn`: half of a write arrives, and the process is killed. */
  fault: 'EIO' | 'ENOSPC' | 'torn';
  /** How many calls succeed first. */
  skip: number;
}

/** The storage of processes that run with these variables. */
export interface FaultyStorage {
  env: Record<string, string>;
  fail: (fault: StorageFault) => void;
  heal: () => void;
}

/** Why the library can't be built; undefined if it can. */
export function findBuildProblem(): string | undefined {
  if (process.platform !== 'linux') return 'needs LD_PRELOAD and /proc';
  return spawnSync('cc', ['--version']).status === 0 ? undefined : 'needs a C compiler';
}

/** Builds the library in a folder. Files fail whose path contains `part`. */
export function buildFaultyStorage(folder: string, part: string): FaultyStorage {
  const library = join(folder, 'faulty-storage.so');
  const source = join(import.meta.dirname, 'faulty-storage.c');
  const { status, stderr } = spawnSync(
    'cc',
    ['-shared', '-fPIC', '-O2', '-Wall', '-o', library, source, '-ldl'],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(stderr);
  const control = join(folder, 'fault');
  let count = 0;
  return {
    env: { LD_PRELOAD: library, FAULT_CONTROL: control, FAULT_PATH: part },
    fail({ operation, fault, skip }) {
      // Never half-written for its reader.
      writeFileSync(`${control}.new`, `${(count += 1)} ${operation} ${fault} ${skip}\n`);
      renameSync(`${control}.new`, control);
    },
    heal: () => rmSync(control, { force: true }),
  };
}
