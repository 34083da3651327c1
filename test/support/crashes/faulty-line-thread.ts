/** A speech synthesis thread that exits, throws, or hangs on certain texts. */
import { parentPort } from 'node:worker_threads';
import type { LineSource } from '../../../src/voice/speech/spoken-line.ts';
import { makeLine } from '../../../src/voice/speech/make-line.ts';

const port = parentPort;
if (!port) throw new Error('faulty-line-thread must run as a worker thread.');
port.on('message', (source: LineSource) => {
  const text = source.kind === 'text' ? source.text : '';
  // In a worker thread, this ends the thread only.
  if (text === 'exit') process.exit(7);
  if (text === 'throw') throw new TypeError('words of a customer');
  if (text !== 'hang') void makeLine(source).then((result) => port.postMessage(result));
});
