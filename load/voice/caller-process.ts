/** The process that places calls, started by a `Fleet`. */
import { systemClock } from '../../src/platform/clock.ts';
import { Callers } from './callers.ts';
import type { CallersCommand } from './fleet-messages.ts';

const callers = new Callers(systemClock, (message) => {
  // After the parent has exited, `disconnect` ends the calls.
  if (process.connected) process.send?.(message);
});

process.on('message', (message: CallersCommand) => void callers.handle(message));
// The parent disconnects after it has received the results, or when it ends.
process.on('disconnect', () => void callers.hangUp());

// Ctrl-C reaches the whole process group, but only the parent decides when the calls end.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
