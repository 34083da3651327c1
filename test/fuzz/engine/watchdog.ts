import { Worker } from 'node:worker_threads';

/** Ends the process if its event loop is blocked. */
export interface Watchdog {
  /** Says which input is sent now, or that the event loop runs. */
  beat(place?: { seed: number; index: number }): void;
  stop(): Promise<void>;
}

/** The cells of the memory that both threads share. */
export const [BEATS, SEED, INDEX] = [0, 1, 2];

/** What the thread gets. */
export interface WatchdogData {
  cells: Int32Array;
  blockedMsMax: number;
  /** The name of the target, for the message. */
  name: string;
}

/** The exit signal of a process that was blocked. */
export const BLOCKED_SIGNAL = 'SIGKILL';

/** Starts a thread that ends the process when it has sent nothing for so long. */
export function startWatchdog(name: string, blockedMsMax: number): Watchdog {
  const cells = new Int32Array(new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT));
  const workerData: WatchdogData = { cells, blockedMsMax, name };
  const thread = new Worker(new URL('watchdog-thread.ts', import.meta.url), { workerData });
  thread.unref();
  const beat: Watchdog['beat'] = (place) => {
    Atomics.add(cells, BEATS, 1);
    if (!place) return;
    Atomics.store(cells, SEED, place.seed);
    Atomics.store(cells, INDEX, place.index);
  };
  // An input that waits is not blocked.
  const timer = setInterval(beat, 1_000).unref();
  return {
    beat,
    async stop() {
      clearInterval(timer);
      await thread.terminate();
    },
  };
}
