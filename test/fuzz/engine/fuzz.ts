/** Sends inputs to a target, round by round, until the time is over or an input violates a rule. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { errorMessage } from '../../../src/platform/error-origin.ts';
import { createHeapMeter, type HeapUse } from './heap.ts';
import type { Find } from './find.ts';
import { collectProcessErrors, type ProcessErrors } from './process-errors.ts';
import { Violation, type Session, type Target } from './target.ts';
import { startWatchdog, type Watchdog } from './watchdog.ts';

/** How long and how a target is fuzzed. */
export interface FuzzOptions {
  name: string;
  seconds: number;
  /** Seed of the first round; each round has the next one. */
  seed: number;
  /** Sends only this input of the first round, instead of several rounds. */
  path?: string | undefined;
  /** Called every few seconds. */
  onProgress?: (result: FuzzResult) => void;
  /** How long an input may take. */
  inputMsMax?: number;
  /** How long a smaller input is searched for. */
  shrinkMsMax?: number;
}

/** What was sent, and what was found. */
export interface FuzzResult {
  name: string;
  /** Requests, packets, or documents. */
  sent: number;
  rounds: number;
  elapsedMs: number;
  cpuMs: number;
  /** The input that took the most time of the processor. */
  slowest: { cpuMs: number; seed: number; path: string };
  heap: HeapUse;
  find?: Find;
}

/** Busy machines are slow. The slowest input is part of the result in any case. */
const INPUT_MS_MAX = 30_000;
const CPU_MS_MAX = 5_000;
const GROWTH_BYTES_MAX = 32 * 1_048_576;
const SHRINK_MS_MAX = 60_000;
/** Collecting garbage takes a while. */
const MEASURE_INTERVAL_MS = 2_000;
const PROGRESS_INTERVAL_MS = 10_000;
const CPU_INTERVAL_MS = 10;
/** An error that nothing catches may show only during the next inputs. */
const EARLIER_MAX = 10;

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

/** Measures the processor time of inputs that are not fast, because reading it takes longer than most do. */
class CpuMeter {
  #readAtMs = -Infinity;
  #cpuMs = 0;

  /** Returns the time since the last call that read it; 0 if that was just before. */
  read(): number {
    const nowMs = performance.now();
    if (nowMs - this.#readAtMs < CPU_INTERVAL_MS) return 0;
    const before = this.#cpuMs;
    [this.#readAtMs, this.#cpuMs] = [nowMs, cpuMs()];
    return this.#cpuMs - before;
  }
}

/** Fuzzes a target. Never throws because of what it finds. */
export async function fuzz(target: Target<unknown>, options: FuzzOptions): Promise<FuzzResult> {
  const { name, inputMsMax = INPUT_MS_MAX } = options;
  const errors = collectProcessErrors();
  const watchdog = startWatchdog(name, 2 * inputMsMax);
  const run = new Run(target, options, { errors, watchdog });
  try {
    await run.sendRounds();
  } finally {
    await watchdog.stop();
    errors.stop();
  }
  return run.result;
}

class Run {
  readonly result: FuzzResult;
  readonly #target: Target<unknown>;
  readonly #options: FuzzOptions;
  readonly #errors: ProcessErrors;
  readonly #watchdog: Watchdog;
  readonly #heap = createHeapMeter();
  readonly #cpu = new CpuMeter();
  #startMs = performance.now();
  #startCpuMs = cpuMs();

  constructor(
    target: Target<unknown>,
    options: FuzzOptions,
    { errors, watchdog }: { errors: ProcessErrors; watchdog: Watchdog },
  ) {
    this.#target = target;
    this.#options = options;
    this.#errors = errors;
    this.#watchdog = watchdog;
    this.result = {
      name: options.name,
      sent: 0,
      rounds: 0,
      elapsedMs: 0,
      cpuMs: 0,
      slowest: { cpuMs: 0, seed: 0, path: '' },
      heap: this.#heap.use(),
    };
  }

  async sendRounds(): Promise<void> {
    const { seed, path, seconds, onProgress } = this.#options;
    if (path !== undefined) {
      await this.#noteFind({ seed, path, error: undefined });
      return;
    }
    let [measuredMs, reportedMs] = [-Infinity, performance.now()];
    let session = await this.#target.open();
    [this.#startMs, this.#startCpuMs] = [performance.now(), cpuMs()];
    while (!this.result.find && (this.result.rounds === 0 || this.#isDue(seconds))) {
      const roundSeed = (seed + this.result.rounds) | 0;
      const failed = await this.#sendRound(session, roundSeed, seconds);
      this.result.rounds += 1;
      if (failed) {
        await closeQuietly(session);
        await this.#noteFind(failed);
        return;
      }
      session = await this.#reset(session, roundSeed);
      const nowMs = performance.now();
      if (nowMs - measuredMs > MEASURE_INTERVAL_MS) {
        this.#heap.measure(this.result.sent);
        measuredMs = nowMs;
        this.#summarize();
      }
      if (nowMs - reportedMs > PROGRESS_INTERVAL_MS) {
        onProgress?.(this.result);
        reportedMs = nowMs;
      }
    }
    await session.close();
    this.#summarize();
    this.#checkGrowth(seed);
  }

  #isDue(seconds: number): boolean {
    return performance.now() - this.#startMs < seconds * 1_000;
  }

  /** Sends the inputs of a round. Returns the first that violates a rule. */
  async #sendRound(
    session: Session<unknown>,
    seed: number,
    seconds: number,
  ): Promise<FailedInput | undefined> {
    const { inputs, inputsPerRound } = this.#target;
    let index = -1;
    const property = fc.asyncProperty(inputs, async (input) => {
      index += 1;
      if (index > 0 && !this.#isDue(seconds)) return;
      this.#watchdog.beat({ seed, index });
      const usedMs = await this.#send(session, input);
      this.result.sent += this.#target.countOf?.(input) ?? 1;
      if (usedMs <= this.result.slowest.cpuMs) return;
      this.result.slowest = { cpuMs: usedMs, seed, path: String(index) };
    });
    const details = await fc.check(property, {
      seed,
      numRuns: inputsPerRound,
      endOnFailure: true,
    });
    if (!details.failed) return undefined;
    return { seed, path: details.counterexamplePath ?? '0', error: details.errorInstance };
  }

  /** Sends an input, and waits for the errors that it causes. Returns its processor time. */
  async #send(session: Session<unknown>, input: unknown): Promise<number> {
    const { inputMsMax = INPUT_MS_MAX } = this.#options;
    this.#cpu.read();
    await limit(inputMsMax, session.send(input));
    // An unhandled rejection is reported after the promises of this turn.
    await nextTurn();
    this.#errors.throwFirst();
    const usedMs = this.#cpu.read();
    if (usedMs > CPU_MS_MAX) {
      throw new Violation(`An input took ${Math.round(usedMs)} ms of the processor.`);
    }
    return usedMs;
  }

  /** Restores the state. A session that can't do so is a find, and is replaced. */
  async #reset(session: Session<unknown>, seed: number): Promise<Session<unknown>> {
    try {
      await limit(this.#options.inputMsMax ?? INPUT_MS_MAX, session.reset());
      await nextTurn();
      this.#errors.throwFirst();
      return session;
    } catch (error) {
      this.result.find = {
        message: `After the round: ${describe(error)}`,
        seed,
        path: '',
        input: '(all)',
        shrinks: 0,
        isAlone: false,
      };
      return session;
    }
  }

  /** Sends an input alone, to another session, and searches for a smaller one. */
  async #noteFind({ seed, path, error }: FailedInput): Promise<void> {
    const places = error === undefined ? [path] : listPlaces(path);
    for (const place of places) {
      const find = await this.#shrink(seed, place);
      if (!find) continue;
      this.result.find = find;
      return;
    }
    if (error === undefined) return;
    this.result.find = {
      message: describe(error),
      seed,
      path,
      shrinks: 0,
      isAlone: false,
      input: await this.#describe(seed, path),
    };
  }

  async #shrink(seed: number, path: string): Promise<Find | undefined> {
    const { shrinkMsMax = SHRINK_MS_MAX } = this.#options;
    const endMs = performance.now() + shrinkMsMax;
    const property = fc.asyncProperty(this.#target.inputs, async (input) => {
      if (performance.now() > endMs) return;
      this.#watchdog.beat();
      const session = await this.#target.open();
      try {
        await this.#send(session, input);
        await session.reset();
        await nextTurn();
        this.#errors.throwFirst();
      } finally {
        await closeQuietly(session);
      }
    });
    const details = await fc.check(property, { seed, path, numRuns: 1 });
    if (!details.failed) return undefined;
    const smallest = details.counterexamplePath ?? path;
    return {
      message: describe(details.errorInstance),
      seed,
      path: smallest,
      shrinks: details.numShrinks,
      isAlone: true,
      input: await this.#describe(seed, smallest),
    };
  }

  async #describe(seed: number, path: string): Promise<string> {
    const [input] = fc.sample(this.#target.inputs, { seed, path, numRuns: 1 });
    const session = await this.#target.open();
    const text = session.describe?.(input) ?? fc.stringify(input);
    await closeQuietly(session);
    return text;
  }

  #summarize(): void {
    this.result.elapsedMs = performance.now() - this.#startMs;
    this.result.cpuMs = cpuMs() - this.#startCpuMs;
    this.result.heap = this.#heap.use();
  }

  #checkGrowth(seed: number): void {
    const { growthBytes, bytesPerInput } = this.result.heap;
    if (this.result.find || growthBytes <= GROWTH_BYTES_MAX) return;
    const [mib, slope] = [Math.round(growthBytes / 1_048_576), Math.round(bytesPerInput)];
    this.result.find = {
      message: `The memory after garbage collection grew by ${mib} MiB, ${slope} bytes per input.`,
      seed,
      path: '',
      input: '(all)',
      shrinks: 0,
      isAlone: false,
    };
  }
}

/** An input that violates a rule after those before it. */
interface FailedInput {
  seed: number;
  path: string;
  /** Undefined if the input was named by its path. */
  error: unknown;
}

/** Returns the path of an input, and of those just before it. */
function listPlaces(path: string): string[] {
  const index = Number(path);
  const count = Number.isInteger(index) ? Math.min(EARLIER_MAX, index) : 0;
  return [path, ...Array.from({ length: count }, (_, nth) => String(index - 1 - nth))];
}

/** Waits for a promise, so long at most. */
async function limit(ms: number, work: Promise<void> | void): Promise<void> {
  if (!work) return;
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(new Violation(`No end within ${ms / 1_000} s.`));
  }, ms);
  await Promise.race([work, late.promise]).finally(() => clearTimeout(timer));
}

/** Closes a session that may be broken. */
async function closeQuietly(session: Session<unknown>): Promise<void> {
  await limit(INPUT_MS_MAX, session.close()).catch(() => undefined);
}

function describe(error: unknown): string {
  if (error instanceof Violation) return error.message;
  return error instanceof Error ? (error.stack ?? errorMessage(error)) : String(error);
}
