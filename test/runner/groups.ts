/** Forms groups of test files that run in one process. */
import { globSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { ROOT } from '../helpers/repository.ts';

/** Where the files are that import a group. */
const GROUPS = join(ROOT, 'test/.groups');

/** Test files that need more than `npm ci`, or more time than a push has. */
const SEPARATE = /^test\/(field|nightly|package)\//;

/** How many files run in one process. The first pattern that matches a directory counts. */
const filesPerProcess: readonly (readonly [pattern: RegExp, count: number])[] = [
  // Pure functions.
  [/^test\/unit\b/, 40],
  // Measurements, crashes, and installs need a process for themselves.
  [/^test\/(load|field|nightly|package)\b/, 1],
  [/./, 8],
];

/**
 * Returns the test files below these directories or that match these globs, relative to the root of
 * the repository; without any, all test files that a push runs.
 */
export function listTestFiles(paths: readonly string[]): string[] {
  const files = (paths.length === 0 ? ['test'] : paths).flatMap((path) => {
    const isDirectory = statSync(join(ROOT, path), { throwIfNoEntry: false })?.isDirectory();
    return globSync(isDirectory ? `${path}/**/*.test.ts` : path, {
      cwd: ROOT,
      exclude: (name) => name === 'node_modules',
    });
  });
  return [...new Set(files)].filter((file) => paths.length > 0 || !SEPARATE.test(file)).sort();
}

/** Puts the files of each directory into groups of nearly equal size. */
export function formGroups(files: readonly string[]): string[][] {
  return Object.entries(Object.groupBy(files, (file) => dirname(file))).flatMap(
    ([directory, members = []]) => {
      const [, size = 1] = filesPerProcess.find(([pattern]) => pattern.test(directory)) ?? [];
      const count = Math.ceil(members.length / size);
      const groupOf = (_file: string, index: number): number =>
        Math.floor((index * count) / members.length);
      const groups = Array.from({ length: count }, (): string[] => []);
      members.forEach((file, index) => groups[groupOf(file, index)]?.push(file));
      return groups;
    },
  );
}

/**
 * Returns every nth group, so that several machines share a run: `2/3` is the second of three shares.
 *
 * @throws if the share is not of this form.
 */
export function selectShare(groups: readonly string[][], share: string): string[][] {
  const [index = 0, count = 0] = share.split('/').map(Number);
  if (!(index >= 1 && index <= count)) {
    throw new Error(`--share is ${share}, not a number from 1 to N and N, such as 1/3.`);
  }
  return groups.filter((_group, position) => position % count === index - 1);
}

/** Writes a test file for each group, which imports its files. Returns the paths of these. */
export function writeGroups(groups: readonly string[][]): string[] {
  rmSync(GROUPS, { recursive: true, force: true });
  mkdirSync(GROUPS, { recursive: true });
  return groups.map((files, position) => {
    const [first = ''] = files;
    if (files.length === 1) return first;
    const directory = relative('test', dirname(first)).replaceAll(/\W/g, '-');
    const path = join(GROUPS, `${directory}-${position + 1}.test.ts`);
    const imports = files.map((file) => `  await import(${JSON.stringify(join(ROOT, file))});\n`);
    writeFileSync(
      path,
      // Inside a test, because tap may end the run while a file waits before its first test.
      `import t from 'tap';\nvoid t.test('load the files', async () => {\n${imports.join('')}});\n`,
    );
    return relative(ROOT, path);
  });
}
