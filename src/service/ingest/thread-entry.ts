/** Entry point of the ingest thread, which `startIngestThread` starts. */
import { parentPort, workerData } from 'node:worker_threads';
import { openSpanWriter } from '../store/sqlite/span-writer.ts';
import { decodeBody } from './decode-body.ts';
import type { ThreadData } from './thread-messages.ts';
import { processTasks } from './write-batches.ts';

if (!parentPort)
  throw new Error('This module is the entry point of a thread. Use startIngestThread().');
const { file, isTemporary } = workerData as ThreadData;
processTasks({
  port: parentPort,
  spanWriter: openSpanWriter({ file, isTemporary }),
  decode: decodeBody,
});
