/**
 * Fuzzes all targets, or those that are named, each in a process of its own:
 *
 *     node test/fuzz/run.ts [TARGET …] [--seconds N] [--seed N] [--path PATH] [--jobs N]
 *
 * Prints a line for each target every minute, and what it finds, with the command that repeats it.
 */
import { fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { formatFind } from './engine/find.ts';
import type { FuzzOptions, FuzzResult } from './engine/fuzz.ts';
import { TARGET_NAMES } from './targets.ts';

/** What came of a target; `failure` if its process ended early. */
interface TargetOutcome {
  result: FuzzResult | undefined;
  failure?: string;
}

/** Databases on a disk would be most of the time. */
const MEMORY_DIRECTORY = '/dev/shm';

/** A leak ends the process instead of the machine. */
const HEAP_MIB_MAX = 1_500;

/** Fuzzes a target in a process of its own. */
export function fuzzInProcess(
  options: FuzzOptions,
  onProgress: (result: FuzzResult) => void = () => undefined,
): Promise<TargetOutcome> {
  const child = fork(join(import.meta.dirname, 'engine/run-target.ts'), [JSON.stringify(options)], {
    execArgv: [`--max-old-space-size=${HEAP_MIB_MAX}`],
    env: {
      ...process.env,
      TMPDIR: existsSync(MEMORY_DIRECTORY) ? MEMORY_DIRECTORY : tmpdir(),
    },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  let result: FuzzResult | undefined;
  child.on('message', (message) => {
    result = message as FuzzResult;
    onProgress(result);
  });
  return new Promise((resolve) => {
    child.on('exit', (code, signal) => {
      if (code === 0) resolve({ result });
      else {
        const failure = `The process of ${options.name} ended with ${signal ?? String(code)}.`;
        resolve({ result, failure });
      }
    });
  });
}

/** Describes what was sent so far in a line. */
export function formatResult(result: FuzzResult): string {
  const { name, sent, rounds, elapsedMs, cpuMs, slowest, heap } = result;
  const perSecond = (ms: number): string =>
    Math.round(sent / Math.max(0.001, ms / 1_000)).toLocaleString('en');
  const mib = (bytes: number): string => (bytes / 1_048_576).toFixed(1);
  return [
    `${name}: ${sent.toLocaleString('en')} inputs in ${(elapsedMs / 1_000).toFixed(0)} s`,
    `${perSecond(elapsedMs)}/s (${perSecond(cpuMs)} per second of the processor)`,
    `${rounds} rounds, slowest ${Math.round(slowest.cpuMs)} ms (--seed ${slowest.seed} --path ${slowest.path})`,
    `heap ${mib(heap.bytes)} MiB, ${heap.growthBytes < 0 ? '' : '+'}${mib(heap.growthBytes)} MiB, ${heap.bytesPerInput.toFixed(1)} bytes per input`,
  ].join(', ');
}

/** Returns what is wrong with an outcome; undefined if nothing is. */
export function describeFailure(
  name: string,
  { result, failure }: TargetOutcome,
): string | undefined {
  return failure ?? (result?.find && formatFind(name, result.find));
}

const SECONDS_DEFAULT = '3600';
const LINE_INTERVAL_MS = 60_000;

async function main(): Promise<number> {
  const { SANDBOX_KIT_FUZZ_SECONDS = SECONDS_DEFAULT, SANDBOX_KIT_FUZZ_SEED } = process.env;
  const { values, positionals } = parseArgs({
    options: {
      seconds: { type: 'string', default: SANDBOX_KIT_FUZZ_SECONDS },
      seed: {
        type: 'string',
        default: SANDBOX_KIT_FUZZ_SEED ?? String(Date.now() % 1_000_000_000),
      },
      path: { type: 'string' },
      jobs: { type: 'string', default: '1' },
    },
    allowPositionals: true,
  });
  const unknown = positionals.find((name) => !TARGET_NAMES.includes(name));
  if (unknown !== undefined)
    throw new Error(`Unknown target ${unknown}. Targets: ${TARGET_NAMES.join(', ')}.`);
  const names = positionals.length > 0 ? positionals : [...TARGET_NAMES];
  const [seconds, seed] = [Number(values.seconds), Number(values.seed)];
  const write = (line: string): void => void process.stdout.write(`${line}\n`);
  write(`${names.length} targets, ${seconds} s each, seed ${seed}`);
  let failures = 0;
  const work = async (): Promise<void> => {
    for (let name = names.shift(); name !== undefined; name = names.shift()) {
      let shownMs = performance.now();
      const onProgress = (result: FuzzResult): void => {
        if (performance.now() - shownMs < LINE_INTERVAL_MS) return;
        shownMs = performance.now();
        write(formatResult(result));
      };
      const outcome = await fuzzInProcess({ name, seconds, seed, path: values.path }, onProgress);
      if (outcome.result) write(formatResult(outcome.result));
      const failure = describeFailure(name, outcome);
      if (failure === undefined) continue;
      failures += 1;
      write(failure);
    }
  };
  await Promise.all(Array.from({ length: Number(values.jobs) }, work));
  return failures === 0 ? 0 : 1;
}

if (import.meta.main) process.exitCode = await main();
