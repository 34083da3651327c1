/** A process that places calls: what `startFleet` runs. */
import { systemClock } from '../../src/platform/clock.ts';
import { createCallers } from './callers.ts';
import type { CallersCommand } from './fleet-messages.ts';

const placed = createCallers(systemClock, (message) => {
  // Whoever has gone needs no answer; `disconnect` tells of it.
  if (process.connected) process.send?.(message);
});

process.on('message', (message: CallersCommand) => void placed.handle(message));
// Whoever judges lets go once it has heard what came of the calls, or when it ends itself.
process.on('disconnect', () => void placed.hangUp());

// Ctrl-C reaches the whole group; the process that judges says what is to become of the calls.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
