/**
 * Removes hooks of tap that take time and that no test needs. Import it before tap.
 *
 * Tap follows every promise of a process with an asynchronous hook, which takes a fifth of the time
 * of the self-tests. It does so to name the test that was running when an exception is thrown outside
 * of it. Without that, such an exception ends the process, with its stack trace.
 *
 * Tap also loads itself into all threads and processes that a test starts, to measure their coverage.
 * In the ingest thread of a service, that is three modules of tap for each other one.
 */
import asyncHooks, { type AsyncHook, type HookCallbacks } from 'node:async_hooks';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import workerThreads, { type WorkerOptions } from 'node:worker_threads';

const { createHook } = asyncHooks;

/** Whether these are the callbacks of async-hook-domain, the package that tap does it with. */
const followsTests = (callbacks: HookCallbacks): boolean =>
  Object.keys(callbacks).join() === 'init,destroy';

asyncHooks.createHook = (callbacks) => {
  if (!followsTests(callbacks)) return createHook(callbacks);
  const inactive: AsyncHook = { enable: () => inactive, disable: () => inactive };
  return inactive;
};

/** A thread without the arguments of this process, which load tap. */
class PlainWorker extends workerThreads.Worker {
  constructor(url: string | URL, options: WorkerOptions = {}) {
    super(url, { execArgv: [], ...options });
  }
}

/** The package with which tap changes the environment of new processes. */
const onSpawn = createRequire(import.meta.url)('process-on-spawn') as {
  removeAllListeners: () => void;
};

/** Starts threads and processes as a program without tap does. */
function keepTapOutOfChildren(): void {
  Object.assign(workerThreads, { Worker: PlainWorker });
  process.execArgv.length = 0;
  delete process.env.NODE_OPTIONS;
  onSpawn.removeAllListeners();
}

// Tap sets the variable; coverage needs the hooks.
if (process.env.TAP_DISABLE_COVERAGE === '1') keepTapOutOfChildren();
syncBuiltinESMExports();
