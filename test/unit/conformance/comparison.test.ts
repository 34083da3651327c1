/** The comparison of a check with an earlier one. */
import t from 'tap';
import { compareReports } from '../../../conformance/index.ts';
import { comparisonLines } from '../../../conformance/reports/comparison.ts';
import type { CheckReport, Verdict } from '../../../src/contract/index.ts';
import { plainStyle } from '../../../src/report-kit/terminal.ts';

/** Creates a report with these verdicts by requirement id. */
function createReport(verdicts: Record<string, Verdict>, more: Partial<CheckReport> = {}) {
  const requirements = Object.entries(verdicts).map(([id, verdict]) => ({ id, verdict }));
  const target = 'http://127.0.0.1:8080';
  const startedAt = '2026-11-20T09:00:00.000Z';
  return { startedAt, target, exitCode: 0, requirements, ...more } as CheckReport;
}

const earlier = createReport({
  'CHAT-001': 'pass',
  'CHAT-002': 'fail',
  'CHAT-003': 'warn',
  'CHAT-004': 'pass',
  'CHAT-005': 'note',
  'CHAT-006': 'fail',
  'CHAT-007': 'pass',
});
const now = createReport(
  {
    'CHAT-001': 'fail',
    'CHAT-002': 'pass',
    'CHAT-003': 'fail',
    'CHAT-004': 'blocked',
    'CHAT-005': 'note',
    'CHAT-006': 'warn',
    'CHAT-008': 'pass',
  },
  { target: 'http://127.0.0.1:9999', exitCode: 1 },
);

void t.test('a comparison separates regressions, fixes, other changes, and the rest', (t) => {
  const report = compareReports(now, earlier);
  t.same(report.comparison, {
    startedAt: earlier.startedAt,
    differences: ['Different target: http://127.0.0.1:8080 before, http://127.0.0.1:9999 now.'],
    regressions: ['CHAT-001', 'CHAT-003'],
    fixes: ['CHAT-002', 'CHAT-006'],
    otherChanges: ['CHAT-004', 'CHAT-008', 'CHAT-007'],
    unchanged: ['CHAT-005'],
  });
  t.equal(report.exitCode, 1, 'the exit code stays the same');
  t.end();
});

void t.test('the terminal shows regressions first', (t) => {
  const options = { style: plainStyle, width: 80 };
  const text = comparisonLines(compareReports(now, earlier), options).join('\n');
  t.match(
    text,
    /^Compared with the run of 2026[^\n]+\nDifferent target: [^\n]+\n {2}regressed +CHAT-001 003\n {2}fixed +CHAT-002 006\n {2}other +CHAT-004 008 007\n {2}unchanged {2}1$/,
  );
  t.same(comparisonLines(now, options), [], 'a report without a comparison has no block');
  t.end();
});
