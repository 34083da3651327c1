/** A writer's thread that can be told, by a body or an owner, to die or to stumble over a bug. */
import { parentPort, workerData } from 'node:worker_threads';
import { decodeBody } from '../../src/service/ingest/decode-body.ts';
import { writeBatches } from '../../src/service/ingest/write-batches.ts';
import type { ThreadData } from '../../src/service/ingest/thread-messages.ts';
import { openSpanWriter } from '../../src/service/store/span-writer.ts';

if (!parentPort) throw new Error('to be run as a thread');
const sink = openSpanWriter({ file: (workerData as ThreadData).file });
writeBatches({
  port: parentPort,
  spanWriter: {
    ...sink,
    insert(requests) {
      if (requests.some(({ ownerId }) => ownerId === 'burst')) throw new TypeError('a customer');
      return sink.insert(requests);
    },
  },
  decode(job, sink) {
    const text = new TextDecoder().decode(job.body);
    // In a thread, this ends the thread alone.
    if (text === 'die') process.exit(7);
    if (text === 'stumble') throw new TypeError('what a customer said');
    return decodeBody(job, sink);
  },
});
