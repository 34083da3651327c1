/** An ingest thread that exits or throws for certain bodies and owners. */
import { parentPort, workerData } from 'node:worker_threads';
import { decodeBody } from '../../../src/service/ingest/decode-body.ts';
import type { ThreadData } from '../../../src/service/ingest/thread-messages.ts';
import { processTasks } from '../../../src/service/ingest/write-batches.ts';
import { openSpanWriter } from '../../../src/service/store/open-span-writer.ts';

if (!parentPort) throw new Error('This module is the entry point of a thread.');
const spanWriter = await openSpanWriter(workerData as ThreadData);
processTasks({
  port: parentPort,
  spanWriter: {
    ...spanWriter,
    insert(requests) {
      if (requests.some(({ ownerId }) => ownerId === 'throwing-writer'))
        throw new TypeError('customer text');
      return spanWriter.insert(requests);
    },
  },
  decode(task) {
    const text = new TextDecoder().decode(task.body);
    // In a thread, this ends only the thread.
    if (text === 'exit') process.exit(7);
    if (text === 'throw') throw new TypeError('customer text');
    return decodeBody(task);
  },
});
