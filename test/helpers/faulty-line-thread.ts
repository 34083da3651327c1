/** A thread that makes lines and can be told, by what it is to say, to die or to stand still. */
import { parentPort } from 'node:worker_threads';
import type { LineSource } from '../../src/voice/speech/spoken-line.ts';
import { makeLine } from '../../src/voice/speech/make-line.ts';

const port = parentPort;
if (!port) throw new Error('to be run as a thread');
port.on('message', (source: LineSource) => {
  const text = source.kind === 'text' ? source.text : '';
  // In a thread, this ends the thread alone.
  if (text === 'die') process.exit(7);
  if (text === 'stumble') throw new TypeError('what a customer said');
  if (text !== 'stand still') void makeLine(source).then((result) => port.postMessage(result));
});
