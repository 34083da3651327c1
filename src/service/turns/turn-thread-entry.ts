/** Entry point of the thread that builds the turns of large conversations. */
import { parentPort } from 'node:worker_threads';
import type { TurnTask } from './turn-builder.ts';
import { buildTranscript, buildTurns } from './turns.ts';

const port = parentPort;
if (!port) throw new Error('This module is the entry point of a thread. Use createTurnBuilder().');
port.on('message', ({ kind, spans, links }: TurnTask) => {
  port.postMessage(kind === 'turns' ? buildTurns(spans, links) : buildTranscript(spans, links));
});
