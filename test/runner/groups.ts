/** Forms groups of test files that run in one process. */
import { globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { ROOT } from '../support/repository.ts';

/** Where the files are that import a group. */
const GROUPS = join(ROOT, 'test/.groups');

/** What each group imports first. */
const WITHOUT_HOOKS = join(ROOT, 'test/runner/without-hooks.ts');

/** Directories of tests that need more than `npm ci`, or more time than a push has. */
const SEPARATE = /^test\/(field|fuzz|nightly|package)\b.*/;

/**
 * How many files share a process, by the first pattern that matches their directory. Files share one
 * only if the pattern matches the same text in their directories. The processes start in this order:
 * long ones early, so that no core is idle at the end.
 */
const filesPerProcess: readonly (readonly [pattern: RegExp, count: number])[] = [
  // Measurements need a process for themselves. They mostly wait, while the linter still runs.
  [/^test\/load.*/, 1],
  // Crashes and installs need a process for themselves.
  [SEPARATE, 1],
  [/^test\/(conformance|cli|recipes).*/, 8],
  [/^test\/(?!unit\b)/, 10],
  // Pure functions.
  [/^test\/unit\b/, 40],
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

/** Puts the files into groups of nearly equal size, in the order they start. */
export function formGroups(files: readonly string[]): string[][] {
  return filesPerProcess.flatMap(([pattern, size], position) => {
    const earlier = filesPerProcess.slice(0, position);
    const own = files
      .filter((file) => !earlier.some(([other]) => other.test(dirname(file))))
      .filter((file) => pattern.test(dirname(file)));
    const shared = Map.groupBy(
      own,
      (file) => `${pattern.exec(dirname(file))?.[0]} ${runsConcurrently(file)}`,
    );
    return [...shared.values()].flatMap((members) => {
      const count = Math.ceil(members.length / size);
      const groups = Array.from({ length: count }, (): string[] => []);
      members.forEach((file, index) => {
        groups[Math.floor((index * count) / members.length)]?.push(file);
      });
      return groups;
    });
  });
}

/** Whether the tests of a file run concurrently, which holds for all tests of a process. */
const runsConcurrently = (file: string): boolean =>
  /^t\.jobs = /m.test(readFileSync(join(ROOT, file), 'utf8'));

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

/**
 * Writes a test file for each group, which imports its files. Returns the paths of these, whose names
 * begin with a number, because tap runs files in alphabetical order.
 */
export function writeGroups(groups: readonly string[][]): string[] {
  rmSync(GROUPS, { recursive: true, force: true });
  mkdirSync(GROUPS, { recursive: true });
  const digits = String(groups.length).length;
  return groups.map((files, position) => {
    const [first = ''] = files;
    const tested = files.length === 1 ? first.replace(/\.test\.ts$/, '') : dirname(first);
    const number = String(position + 1).padStart(digits, '0');
    const path = join(
      GROUPS,
      `${number}-${relative('test', tested).replaceAll(/\W/g, '-')}.test.ts`,
    );
    const imports = files.map((file) => `  await import(${JSON.stringify(join(ROOT, file))});\n`);
    writeFileSync(
      path,
      // Inside a test, because tap may end the run while a file waits before its first test.
      `import ${JSON.stringify(WITHOUT_HOOKS)};\nimport t from 'tap';\nvoid t.test('load the files', async () => {\n${imports.join('')}});\n`,
    );
    return relative(ROOT, path);
  });
}
