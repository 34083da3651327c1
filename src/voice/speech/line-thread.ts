/** The worker thread that synthesizes lines, one at a time; started by `LineWorker`. */
import { parentPort } from 'node:worker_threads';
import type { LineResult, LineSource } from './spoken-line.ts';
import { makeLine } from './make-line.ts';

const port = parentPort;
if (!port) throw new Error('line-thread must be started by LineWorker');
port.on('message', (source: LineSource) => {
  void makeLine(source).then((result: LineResult) => port.postMessage(result));
});
