/** Entry point of the ingest thread, which `startIngestThread` starts. */
import { parentPort, workerData } from 'node:worker_threads';
import { openSpanWriter } from '../store/open-span-writer.ts';
import { decodeBody } from './decode-body.ts';
import type { ThreadData } from './thread-messages.ts';
import { processTasks } from './write-batches.ts';

if (!parentPort)
  throw new Error('This module is the entry point of a thread. Use startIngestThread().');
processTasks({
  port: parentPort,
  spanWriter: await openSpanWriter(workerData as ThreadData),
  decode: decodeBody,
});
