/** The writer's thread: what `startWriter` runs. */
import { parentPort, workerData } from 'node:worker_threads';
import { openSpanWriter } from '../store/span-writer.ts';
import { decodeBody } from './decode-body.ts';
import { writeBatches } from './write-batches.ts';
import type { ThreadData } from './thread-messages.ts';

if (!parentPort) throw new Error('writer-thread is started by startWriter, not by itself');
const { file, isTemporary } = workerData as ThreadData;
writeBatches({
  port: parentPort,
  spanWriter: openSpanWriter({ file, isTemporary }),
  decode: decodeBody,
});
