/** The writer's thread: what `startWriter` runs. */
import { parentPort, workerData } from 'node:worker_threads';
import { openSpanSink } from '../store/spans.ts';
import { decodeBody } from './decode-body.ts';
import { writeGroups } from './write-groups.ts';
import type { ThreadData } from './writer-messages.ts';

if (!parentPort) throw new Error('writer-thread is started by startWriter, not by itself');
const { file, isTemporary } = workerData as ThreadData;
writeGroups({
  port: parentPort,
  sink: openSpanSink({ file, isTemporary }),
  decode: decodeBody,
});
