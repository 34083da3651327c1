/** Ends the process, and says with which input, when its main thread is blocked. */
import { writeSync } from 'node:fs';
import { workerData } from 'node:worker_threads';
import { BEATS, BLOCKED_SIGNAL, INDEX, SEED, type WatchdogData } from './watchdog.ts';
import { formatRepeatCommand } from './find.ts';

const CHECK_MS = 500;

const { cells, blockedMsMax, name } = workerData as WatchdogData;
let [beats, sinceMs] = [-1, performance.now()];

setInterval(() => {
  const now = Atomics.load(cells, BEATS);
  if (now !== beats) [beats, sinceMs] = [now, performance.now()];
  else if (performance.now() - sinceMs > blockedMsMax) {
    const place = { seed: Atomics.load(cells, SEED), path: String(Atomics.load(cells, INDEX)) };
    const message = `FOUND in ${name}: an input blocked the process for ${blockedMsMax / 1_000} s.`;
    writeSync(2, `${message}\nRepeat it: ${formatRepeatCommand(name, place)}\n`);
    process.kill(process.pid, BLOCKED_SIGNAL);
  }
}, CHECK_MS);
