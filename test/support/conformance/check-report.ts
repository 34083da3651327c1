/** Builds check reports for tests of what is made from them. */
import type { CheckReport } from '../../../src/contract/index.ts';

/** The result of one requirement in a check report. */
export type Row = CheckReport['requirements'][number];

/** Returns the result of a passed requirement with the given changes. */
export function row(id: string, change: Partial<Row> = {}): Row {
  const area = id.startsWith('CHAT') ? 'chat' : 'users';
  const evidence = [
    { exchange: 3, step: 'minimal', request: 'POST /v1/chat/completions', outcome: '200' },
  ];
  const rule = 'The content of the message is a string.';
  return {
    id,
    area,
    level: 'must',
    section: '2.8',
    statements: ['2.8.7'],
    verdict: 'pass',
    rule,
    evidence,
    ...change,
  };
}

/** The fields of a failed requirement, for `row`. */
export const failed: Partial<Row> = {
  verdict: 'fail',
  expected: 'a string',
  received: 'null',
  findings: 2,
  pointer: '/choices/0/message/content',
  hint: 'Return a string.',
  curl: `curl -i -X POST --data-raw '${'x'.repeat(100)}' 'http://127.0.0.1:1'`,
};

/** Returns a check report of the given requirements with the given changes. */
export function report(rows: Row[], change: Partial<CheckReport> = {}): CheckReport {
  const counts: Record<string, number> = {};
  for (const { verdict } of rows) counts[verdict] = (counts[verdict] ?? 0) + 1;
  return {
    verdict: 'conforming',
    exitCode: 0,
    kitVersion: '0.1.0',
    suite: '2026-11',
    target: 'http://127.0.0.1:1',
    seed: 'a-seed',
    counts,
    observedBehavior: {},
    waived: [],
    startedAt: '2026-11-20T09:30:00.000Z',
    endedAt: '2026-11-20T09:30:01.000Z',
    requirements: rows,
    causes: [],
    ...change,
  };
}
