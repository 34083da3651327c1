import { fork, type ChildProcess } from 'node:child_process';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Clock } from '../../src/platform/clock.ts';
import type { CallNetwork } from '../../src/contract/index.ts';
import type { VoiceTarget } from '../../src/voice/call/index.ts';
import type {
  CallerSecond,
  CallOrder,
  CallOutcome,
  CallersEvent,
  CallersCommand,
  ProcessCost,
} from './fleet-messages.ts';

/** A process that exited unexpectedly. */
export interface LostProcess {
  /** Number of calls that were lost with it. */
  calls: number;
  /** The signal or exit code, such as "SIGKILL" or "code 1". */
  exitReason: string;
}

/** The results of all calls. */
export interface FleetOutcome {
  /** In order of placement, without the calls of lost processes. */
  calls: CallOutcome[];
  seconds: CallerSecond[];
  costs: ProcessCost[];
  lostProcesses: LostProcess[];
}

/** How to start a fleet. */
export interface FleetOptions {
  clock: Clock;
  target: VoiceTarget;
  /** Network from the callers to the sandbox; undefined for the real one alone. */
  network: CallNetwork | undefined;
  calls: readonly CallOrder[];
  processes: number;
}

/** Time for a process to hang up its calls and report them. */
const FINISH_MS_MAX = 20_000;
/** A process that does not exit within this time after its report is killed. */
const EXIT_MS_MAX = 3_000;

// Type stripping runs the `.ts` file itself; the build emits `.js`.
const processUrl = new URL(`caller-process${extname(import.meta.url)}`, import.meta.url);

/** The processes that place the calls of a run as scheduled. They start when it is created. */
export class Fleet {
  readonly #clock: Clock;
  readonly #members: FleetMember[];
  readonly #unsettled: Set<number>;
  readonly #allSettled = Promise.withResolvers<undefined>();
  readonly #broken = new AbortController();
  readonly #seconds: CallerSecond[] = [];
  #last = { epochS: 0, up: 0, received: 0 };
  /** Number of connected and failed calls so far. */
  readonly counts = { connected: 0, failed: 0 };
  #finishing: Promise<FleetOutcome> | undefined;

  constructor({ clock, target, network, calls, processes }: FleetOptions) {
    this.#clock = clock;
    this.#unsettled = new Set(calls.map(({ nth }) => nth));
    this.#members = Array.from({ length: processes }, (_, index) => {
      // Calls are assigned in turn, so that all processes have the same load at any time.
      const assigned = calls.filter(({ nth }) => nth % processes === index);
      const member = new FleetMember(
        assigned,
        (message) => this.#handleEvent(message),
        () => this.#lose(assigned),
      );
      member.send({ kind: 'place', target, network, calls: assigned });
      return member;
    });
    if (calls.length === 0) this.#allSettled.resolve(undefined);
  }

  /** Resolves when every call has connected or failed. */
  get settled(): Promise<unknown> {
    return this.#allSettled.promise;
  }

  /** Aborts when a process exits unexpectedly. */
  get broken(): AbortSignal {
    return this.#broken.signal;
  }

  /** Number of processes that were started. */
  get processes(): number {
    return this.#members.length;
  }

  /** The calls that were up in the last second, and the packets received in it. */
  get lastSecond(): { up: number; received: number } {
    return this.#last;
  }

  /** Begins the steady state. */
  beginWindow(): void {
    for (const member of this.#members) member.send({ kind: 'window' });
  }

  /** Hangs up all calls and stops the processes; repeated, returns the same. Never rejects. */
  finish(): Promise<FleetOutcome> {
    return (this.#finishing ??= this.#finish());
  }

  async #finish(): Promise<FleetOutcome> {
    await Promise.all(this.#members.map((member) => member.finish(this.#clock)));
    const done = this.#members.flatMap((member) => member.done ?? []);
    return {
      calls: done.flatMap(({ calls }) => calls).sort((a, b) => a.nth - b.nth),
      seconds: this.#seconds,
      costs: done.map(({ cost }) => cost),
      lostProcesses: this.#members.flatMap((member) => member.lost ?? []),
    };
  }

  #handleEvent(message: CallersEvent): void {
    if (message.kind === 'seconds') message.seconds.forEach((each) => this.#addSecond(each));
    if (message.kind !== 'settled') return;
    this.counts[message.isConnected ? 'connected' : 'failed'] += 1;
    this.#settle([message.nth]);
  }

  #addSecond(second: CallerSecond): void {
    this.#seconds.push(second);
    const { epochS, up, received } = second;
    if (epochS > this.#last.epochS) this.#last = { epochS, up: 0, received: 0 };
    if (epochS < this.#last.epochS) return;
    this.#last.up += up;
    this.#last.received += received;
  }

  #lose(calls: readonly CallOrder[]): void {
    this.#broken.abort(new Error('a process that places calls exited'));
    this.#settle(calls.map(({ nth }) => nth));
  }

  #settle(calls: readonly number[]): void {
    for (const nth of calls) this.#unsettled.delete(nth);
    if (this.#unsettled.size === 0) this.#allSettled.resolve(undefined);
  }
}

type Done = Extract<CallersEvent, { kind: 'done' }>;

/** One process of a fleet. */
class FleetMember {
  readonly #child: ChildProcess;
  readonly #exited = Promise.withResolvers<undefined>();
  readonly #finished = Promise.withResolvers<undefined>();
  done: Done | undefined;
  lost: LostProcess | undefined;

  constructor(
    calls: readonly CallOrder[],
    onEvent: (message: CallersEvent) => void,
    onLost: () => void,
  ) {
    this.#child = fork(fileURLToPath(processUrl), [], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const onExit = (exitReason: string): void => {
      if (!this.done) this.lost ??= { calls: calls.length, exitReason };
      this.#exited.resolve(undefined);
      this.#finished.resolve(undefined);
      if (this.lost) onLost();
    };
    this.#child.on('message', (message: CallersEvent) => {
      onEvent(message);
      if (message.kind !== 'done') return;
      this.done = message;
      this.#finished.resolve(undefined);
      this.#child.disconnect();
    });
    this.#child.on('error', (error) => onExit(error.message));
    this.#child.on('exit', (code, signal) => onExit(signal ?? `code ${code}`));
  }

  send(message: CallersCommand): void {
    // An exited process is reported by its exit event.
    if (this.#child.connected) this.#child.send(message, () => {});
  }

  async finish(clock: Clock): Promise<void> {
    this.send({ kind: 'finish' });
    await waitAtMost(this.#finished.promise, FINISH_MS_MAX, clock);
    await waitAtMost(this.#exited.promise, this.done ? EXIT_MS_MAX : 0, clock);
    this.#child.kill('SIGKILL');
    await this.#exited.promise;
  }
}

async function waitAtMost(done: Promise<unknown>, msMax: number, clock: Clock): Promise<void> {
  const over = new AbortController();
  const timeout = clock.sleep(msMax, over.signal).catch(() => undefined);
  await Promise.race([done, timeout]);
  over.abort(new Error('done'));
}
