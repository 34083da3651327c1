/**
 * Runs test files with tap, several in one process, because to start a process and to load the sources
 * takes longer than most files do.
 *
 *     node test/runner/run.ts [PATH …] [--share 1/3] [--jobs N] [--coverage]
 *
 * A path is a file, a directory, or a glob; without one, all tests of a push run. `--share 1/3` runs
 * the first of three parts, so that three machines can share a run. Ends with the failures and the
 * counts; the complete output of tap is in `.tap/run.tap`.
 *
 * At a push, up to three processes that failed run again, one at a time. What then passes is listed as
 * sensitive to a busy machine, and does not fail the push. At night it does.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { withDatabaseServer } from '../support/database/postgres.ts';
import { atNight, isNightly } from '../support/nightly.ts';
import { COMPILE_CACHE, ROOT } from '../support/repository.ts';
import { formGroups, listTestFiles, selectShare, writeGroups } from './groups.ts';
import { createProgress, type Counts } from './progress.ts';

/** The time limit of a process. A test that hangs fails with it. */
const TIMEOUT_S = atNight(3_600, 600);

/** How many processes that failed run again. With more, something else is wrong than a busy machine. */
const REPEATED_MAX = 3;

const COVERAGE = [
  '--no-disable-coverage',
  '--allow-incomplete-coverage',
  '--coverage-report=text-summary',
  '--coverage-report=html',
];

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: {
      share: { type: 'string', default: '1/1' },
      // Tests often wait for a process or the network, so more run than there are cores.
      jobs: { type: 'string', default: String(availableParallelism() + 3) },
      coverage: { type: 'boolean', default: false },
    },
    allowPositionals: true,
  });
  const groups = selectShare(formGroups(listTestFiles(positionals)), values.share);
  if (groups.length === 0) throw new Error(`No test file matches ${positionals.join(' ')}.`);
  const isUnit = groups.flat().every((file) => file.startsWith('test/unit/'));
  const options = [
    `--jobs=${values.jobs}`,
    `--timeout=${TIMEOUT_S}`,
    ...(values.coverage ? COVERAGE : []),
  ];
  const files = writeGroups(groups);
  if (isUnit) return runTests(options, files, {});
  return withDatabaseServer((environment) => runTests(options, files, environment));
}

/** Runs files, at a push those that failed once more alone, and returns the exit code. */
async function runTests(
  options: readonly string[],
  files: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<number> {
  const { code, failed, counts } = await runTap(options, files, environment, '.tap/run.tap');
  if (code === 0 || isNightly || failed.length === 0 || failed.length > REPEATED_MAX) return code;
  const names = failed.join(', ');
  process.stdout.write(`\nFailed, and run again alone: ${names}\n`);
  const alone = await runTap([...options, '--jobs=1'], failed, environment, '.tap/again.tap');
  if (alone.code === 0) {
    process.stdout.write(`Passed alone; these tests depend on who is scheduled first: ${names}\n`);
    process.stdout.write(
      describeCounts({ ...counts, passed: counts.passed + counts.failed, failed: 0 }),
    );
  }
  return alone.code;
}

const describeCounts = ({ passed, failed, skipped }: Counts): string =>
  `${passed} passed, ${failed} failed, ${skipped} skipped\n`;

/** Runs files with tap, whose output goes to `log`. Returns its exit code, and what failed. */
async function runTap(
  options: readonly string[],
  files: readonly string[],
  environment: Readonly<Record<string, string>>,
  log: string,
): Promise<{ code: number; failed: string[]; counts: Counts }> {
  const startedMs = performance.now();
  const tap = join(ROOT, 'node_modules/tap/dist/esm/run.mjs');
  const child = spawn(process.execPath, [tap, '--reporter=tap', ...options, ...files], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { NODE_COMPILE_CACHE: COMPILE_CACHE, ...process.env, ...environment },
  });
  const exit = once(child, 'exit') as Promise<[number | null]>;
  // Ctrl+C reaches tap itself, which ends its processes.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  const file = createWriteStream(join(ROOT, log));
  const write = (line: string): void => void process.stdout.write(`${line}\n`);
  const progress = createProgress(files.length, write, () => performance.now() - startedMs);
  for await (const line of createInterface(child.stdout)) {
    file.write(`${line}\n`);
    progress.read(line);
  }
  file.end();
  const [code] = await exit;
  const minutes = ((performance.now() - startedMs) / 60_000).toFixed(1);
  write(`Took ${minutes} min. All output: ${log}`);
  process.stdout.write(describeCounts(progress.counts()));
  return { code: code ?? 1, failed: progress.failed(), counts: progress.counts() };
}

process.exitCode = await main();
