/** The worker thread of `findFirstMatch`. */
import { parentPort, workerData } from 'node:worker_threads';
import { matchWithin, type PatternSearch } from './pattern-match.ts';

/** Generous, because the machine may be busy. */
const TIMEOUT_MS = 2_000;

parentPort?.postMessage(matchWithin(workerData as PatternSearch, TIMEOUT_MS));
