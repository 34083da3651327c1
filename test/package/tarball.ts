/**
 * The packed kit, and empty folders that install it. As a program, it packs the kit and prints the
 * path of the tarball: `npm run test:package` packs once for all files that way.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Test } from 'tap';
import { systemClock } from '../../src/platform/clock.ts';
import { readShellEnvironment } from '../support/commands/shell-environment.ts';
import { ROOT } from '../support/repository.ts';

/** Installing and compiling take minutes on a busy machine. */
const COMMAND_MS_MAX = 900_000;

let packed: string | undefined;

/**
 * Returns the path of the packed kit: the file that SANDBOX_KIT_TARBALL names, or else a new one,
 * which `npm pack` builds and packs once per process.
 */
export function packKit(): string {
  return (packed ??= process.env['SANDBOX_KIT_TARBALL'] ?? createTarball());
}

function createTarball(): string {
  const directory = mkdtempSync(join(tmpdir(), 'sandbox-kit-tarball-'));
  const args = ['pack', '--json', '--pack-destination', directory];
  const output = execFileSync('npm', args, {
    cwd: ROOT,
    encoding: 'utf8',
    env: readShellEnvironment(),
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: COMMAND_MS_MAX,
  });
  // The build prints lines before the JSON.
  const [{ filename }] = JSON.parse(output.slice(output.search(/^\[$/m))) as [{ filename: string }];
  return join(directory, filename);
}

/** The result of a command in a project. */
export interface ProjectResult {
  /** Null if a signal ended it. */
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A folder where the packed kit is installed, like the project of a user. */
export interface Project {
  directory: string;
  /** Writes files by their path in the folder. */
  write: (files: Record<string, string>) => void;
  /** Installs more packages. The kit is part of the same `npm install`. */
  install: (...packages: string[]) => Promise<ProjectResult>;
  /** Runs a program with this folder as the working directory. */
  run: (
    program: string,
    args: readonly string[],
    env?: Record<string, string>,
  ) => Promise<ProjectResult>;
}

/**
 * Creates an empty folder, and installs the packed kit and other packages into it with one
 * `npm install`. The folder is removed after the test.
 */
export async function createProject(
  t: Test,
  { packages = [], files = {} }: { packages?: string[]; files?: Record<string, string> } = {},
): Promise<Project> {
  const project = createEmptyProject(t);
  project.write(files);
  const { code, stderr } = await project.install(packKit(), ...packages);
  t.equal(code, 0, `npm install ${['sandbox-kit', ...packages].join(' ')}`, { stderr });
  return project;
}

/** Creates a folder that contains only a package.json. It is removed after the test. */
export function createEmptyProject(t: Test): Project {
  const directory = mkdtempSync(join(tmpdir(), 'sandbox-kit-project-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true, maxRetries: 3 }));
  const run: Project['run'] = (program, args, env = {}) =>
    runProgram(program, args, { cwd: directory, env });
  const project: Project = {
    directory,
    write(files) {
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(directory, path)), { recursive: true });
        writeFileSync(join(directory, path), text);
      }
    },
    install: (...packages) =>
      run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...packages]),
    run,
  };
  project.write({
    'package.json': JSON.stringify({ name: 'a-project', private: true, type: 'module' }),
  });
  return project;
}

/** The oldest supported version of Node, that of `engines` in package.json, and the newer lines. */
export const NODE_VERSIONS = ['22.19', '24', '26'] as const;

/**
 * Returns the path of a Node binary of a version, which `npm install` brings into a folder of its
 * own.
 */
export async function installNode(t: Test, version: string): Promise<string> {
  const project = createEmptyProject(t);
  const name = `node-${process.platform}-${process.arch}`;
  const { code, stderr } = await project.install(`${name}@${version}`);
  t.equal(code, 0, `npm install ${name}@${version}`, { stderr });
  return join(project.directory, 'node_modules', name, 'bin', 'node');
}

async function runProgram(
  program: string,
  args: readonly string[],
  { cwd, env }: { cwd: string; env: Record<string, string> },
): Promise<ProjectResult> {
  // tap adds options to every spawned Node, with which TypeScript 7 does not start.
  const child = spawn('env', ['-u', 'NODE_OPTIONS', program, ...args], {
    cwd,
    env: { ...readShellEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  using deadline = systemClock.deadline(COMMAND_MS_MAX);
  deadline.signal.addEventListener('abort', () => child.kill('SIGKILL'));
  // Like a CI job: what the program started in the background ends with it.
  child.once('exit', () => killGroup(child.pid));
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => (output[name] += text));
  }
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return { code, ...output };
}

/** Kills all processes of a group that still run. */
function killGroup(leader: number | undefined): void {
  try {
    if (leader !== undefined) process.kill(-leader, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

if (import.meta.main) process.stdout.write(`${packKit()}\n`);
