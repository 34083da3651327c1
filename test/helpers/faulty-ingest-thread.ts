/** An ingest thread that exits or throws for certain bodies and owners. */
import { parentPort, workerData } from 'node:worker_threads';
import { decodeBody } from '../../src/service/ingest/decode-body.ts';
import type { ThreadData } from '../../src/service/ingest/thread-messages.ts';
import { processTasks } from '../../src/service/ingest/write-batches.ts';
import { openSpanWriter } from '../../src/service/store/span-writer.ts';

if (!parentPort) throw new Error('This module is the entry point of a thread.');
const spanWriter = openSpanWriter({ file: (workerData as ThreadData).file });
processTasks({
  port: parentPort,
  spanWriter: {
    ...spanWriter,
    insert(requests) {
      if (requests.some(({ ownerId }) => ownerId === 'burst')) throw new TypeError('a customer');
      return spanWriter.insert(requests);
    },
  },
  decode(task, traces) {
    const text = new TextDecoder().decode(task.body);
    // In a thread, this ends only the thread.
    if (text === 'die') process.exit(7);
    if (text === 'stumble') throw new TypeError('what a customer said');
    return decodeBody(task, traces);
  },
});
