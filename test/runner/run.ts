/**
 * Runs test files with tap, several in one process, because to start a process and to load the sources
 * takes longer than most files do.
 *
 *     node test/runner/run.ts [PATH …] [--share 1/3] [--jobs N] [--coverage]
 *
 * A path is a file, a directory, or a glob; without one, all tests of a push run. `--share` runs a part,
 * so that several machines can share the rest. Ends with the failures and the counts; the complete
 * output of tap is in `.tap/run.tap`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { withDatabaseServer } from '../helpers/postgres.ts';
import { atNight } from '../helpers/nightly.ts';
import { COMPILE_CACHE, ROOT } from '../helpers/repository.ts';
import { formGroups, listTestFiles, selectShare, writeGroups } from './groups.ts';
import { createProgress } from './progress.ts';

/** The time limit of a process. A test that hangs fails with it. */
const TIMEOUT_S = atNight(3_600, 600);

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
      jobs: { type: 'string', default: String(availableParallelism() + 2) },
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
  if (isUnit) return runTap(options, files, {});
  return withDatabaseServer((environment) => runTap(options, files, environment));
}

/** Runs files with tap, and returns the exit code. */
async function runTap(
  options: readonly string[],
  files: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<number> {
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
  const log = createWriteStream(join(ROOT, '.tap/run.tap'));
  const write = (line: string): void => void process.stdout.write(`${line}\n`);
  const progress = createProgress(files.length, write, () => performance.now() - startedMs);
  for await (const line of createInterface(child.stdout)) {
    log.write(`${line}\n`);
    progress.read(line);
  }
  log.end();
  const [code] = await exit;
  const { passed, failed, skipped } = progress.counts();
  const minutes = ((performance.now() - startedMs) / 60_000).toFixed(1);
  write(`Took ${minutes} min. All output: .tap/run.tap`);
  write(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  return code ?? 1;
}

process.exitCode = await main();
