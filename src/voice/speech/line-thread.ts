/** The thread that makes lines, one at a time: what `LineMaker` runs. */
import { parentPort } from 'node:worker_threads';
import type { LineResult, LineSource } from './spoken-line.ts';
import { makeLine } from './make-line.ts';

const port = parentPort;
if (!port) throw new Error('line-thread is started by LineMaker, not by itself');
port.on('message', (source: LineSource) => {
  void makeLine(source).then((result: LineResult) => port.postMessage(result));
});
