import type { RunRecord } from '../../../src/contract/index.ts';

/** Returns the run record of a transcript that a test writes by hand. */
export const newRunRecord = (changes: Partial<RunRecord> = {}): RunRecord => ({
  record: 'run',
  kitVersion: '0.1.0',
  suite: '2026-11',
  target: 'http://127.0.0.1:1',
  seed: 'a-seed',
  startedAt: '2026-11-20T09:30:00.000Z',
  areas: ['service'],
  allowHttp: true,
  keyGiven: true,
  concurrency: 1,
  ...changes,
});
