/**
 * Measures how long the installed kit takes to start: `--help`, and `agent` until it listens. Compares
 * the agent with aimock, a mock server for models without dependencies, in the same run. Usage:
 * `node bench/start.ts [ROUNDS]` (default: 15; about a minute, most of it for packing and installing).
 *
 * Every round starts all programs in turn, so that a machine that slows down affects all of them. The
 * first round fills the compile cache and is not counted.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packKit } from '../test/package/tarball.ts';
import { median } from './machine.ts';

const AIMOCK = '@copilotkit/aimock@1.43.0';
const HELP_MS_MAX = 60;
const RATIO_MAX = 1.5;
const START_MS_MAX = 30_000;

/** A program whose start is measured. */
interface Program {
  args: string[];
  /** Output that shows that it is ready; undefined to measure until it exits. */
  ready?: RegExp;
}

const rounds = Number(process.argv[2] ?? 15);
const directory = mkdtempSync(join(tmpdir(), 'sandbox-kit-start-'));
try {
  const programs = install(directory);
  const times = new Map(Object.keys(programs).map((name) => [name, [] as number[]]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, program] of Object.entries(programs)) {
      const ms = await measureStart(program);
      if (round > 0) times.get(name)?.push(ms);
    }
  }
  const medianOf = (name: string): number => median(times.get(name) ?? []);
  for (const name of times.keys()) {
    process.stdout.write(`${name.padEnd(20)} ${medianOf(name).toFixed(0).padStart(5)} ms\n`);
  }
  const ratio = medianOf('sandbox-kit agent') / medianOf('aimock');
  const net = medianOf('sandbox-kit --help') - medianOf('node');
  process.stdout.write(
    `\nMedians of ${rounds} rounds. agent / aimock: ${ratio.toFixed(2)}, at most ${RATIO_MAX}. ` +
      `--help takes ${net.toFixed(0)} ms more than Node itself; its limit is ${HELP_MS_MAX} ms in total.\n`,
  );
} finally {
  rmSync(directory, { recursive: true, force: true });
}

/** Installs the packed kit and aimock into a folder, and returns the programs to start. */
function install(folder: string): Record<string, Program> {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true }));
  const fixtures = [{ match: { userMessage: 'hello' }, response: { content: 'Hello!' } }];
  writeFileSync(join(folder, 'fixtures.json'), JSON.stringify({ fixtures }));
  const options = ['--no-audit', '--no-fund', '--ignore-scripts'];
  execFileSync('npm', ['install', ...options, packKit(), AIMOCK], { cwd: folder, stdio: 'ignore' });
  const kit = join(folder, 'node_modules/sandbox-kit/bin/sandbox-kit.js');
  const aimock = join(folder, 'node_modules/@copilotkit/aimock/dist/cli.js');
  return {
    node: { args: ['-e', '0'] },
    'sandbox-kit --help': { args: [kit, '--help'] },
    'sandbox-kit agent': { args: [kit, 'agent', '--port', '0', '--json'], ready: /"url"/ },
    aimock: {
      args: [aimock, '--port', '0', '--fixtures', join(folder, 'fixtures.json')],
      ready: /listening on http/,
    },
  };
}

/** Returns the milliseconds until a program is ready or has exited. */
async function measureStart({ args, ready }: Program): Promise<number> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, { cwd: directory, timeout: START_MS_MAX });
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()));
  let output = '';
  let ms: number | undefined;
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (ms !== undefined || !ready?.test(output)) return;
      ms = performance.now() - startedAt;
      child.kill();
    });
  }
  await exited;
  ms ??= ready ? undefined : performance.now() - startedAt;
  if (ms === undefined) throw new Error(`${args.join(' ')} did not start:\n${output}`);
  return ms;
}
