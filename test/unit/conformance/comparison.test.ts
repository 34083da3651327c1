/** The comparison of a check with an earlier one. */
import t from 'tap';
import {
  compareReports,
  completeReport,
  describeChanges,
  htmlReport,
  markdownReport,
} from '../../../conformance/index.ts';
import { comparisonLines } from '../../../conformance/reports/comparison.ts';
import { findViolations, type CheckReport, type Verdict } from '../../../src/contract/index.ts';
import { plainStyle } from '../../../src/report-kit/terminal.ts';
import { report, row } from '../../support/conformance/check-report.ts';
import { newRunRecord } from '../../support/conformance/run-record.ts';

/** Creates a report with these verdicts by requirement id. */
function createReport(
  verdicts: Record<string, Verdict>,
  more: Partial<CheckReport> = {},
): CheckReport {
  const rows = Object.entries(verdicts).map(([id, verdict]) => row(id, { verdict }));
  return report(rows, { requirementSet: '0.2', ...more });
}

const earlier = createReport(
  {
    'CHAT-001': 'pass',
    'CHAT-002': 'fail',
    'CHAT-003': 'warn',
    'CHAT-004': 'pass',
    'CHAT-005': 'note',
    'CHAT-006': 'fail',
    'CHAT-007': 'pass',
    'CHAT-010': 'fail',
    'CHAT-011': 'blocked',
    'CHAT-012': 'not_selected',
    'CHAT-013': 'not_selected',
    'CHAT-014': 'pass',
    'CHAT-015': 'not_selected',
  },
  { startedAt: '2026-11-19T09:00:00.000Z' },
);
const now = createReport(
  {
    'CHAT-001': 'fail',
    'CHAT-002': 'pass',
    'CHAT-003': 'fail',
    'CHAT-004': 'blocked',
    'CHAT-005': 'note',
    'CHAT-006': 'warn',
    'CHAT-008': 'pass',
    'CHAT-010': 'fail',
    'CHAT-011': 'fail',
    'CHAT-012': 'warn',
    'CHAT-013': 'pass',
    'CHAT-014': 'not_selected',
    'CHAT-015': 'not_selected',
  },
  { target: 'http://127.0.0.1:9999', verdict: 'not-conforming', exitCode: 1 },
);

void t.test('a comparison puts every selected requirement into one list', (t) => {
  const compared = compareReports(now, earlier);
  t.same(compared.comparison, {
    startedAt: earlier.startedAt,
    differences: [
      'Different target: http://127.0.0.1:1 before, http://127.0.0.1:9999 now.',
      'The earlier kit does not have 1 requirement of the other run.',
      'This kit does not have 1 requirement of the other run.',
    ],
    regressions: ['CHAT-001', 'CHAT-003'],
    sentence: '1 requirement could be judged for the first time: 1 fails (CHAT-011).',
    newFailures: ['CHAT-012'],
    fixes: ['CHAT-002', 'CHAT-006'],
    stillFailing: ['CHAT-010'],
    firstJudged: ['CHAT-011'],
    onlyNow: ['CHAT-008', 'CHAT-013'],
    onlyBefore: ['CHAT-007'],
    otherChanges: ['CHAT-004'],
    unchanged: ['CHAT-005'],
  });
  t.equal(compared.exitCode, 1, 'the exit code stays the same');
  t.same(findViolations('CheckReport', compared), []);
  t.end();
});

void t.test('the terminal shows regressions first', (t) => {
  const options = { style: plainStyle, width: 80 };
  const lines = comparisonLines(compareReports(now, earlier), options);
  t.same(
    lines.filter((line) => line.startsWith('  ')),
    [
      '  regressed            CHAT-001 003',
      '  new failures         CHAT-012',
      '  fixed                CHAT-002 006',
      '  still failing        CHAT-010',
      '  judged only now      CHAT-011',
      '  checked only now     CHAT-008 013',
      '  checked only before  CHAT-007',
      '  other changes        CHAT-004',
      '  unchanged            1',
    ],
  );
  t.match(lines[0], /^Compared with the run of 2026-11-19 09:00:00 UTC$/);
  t.same(comparisonLines(now, options), [], 'a report without a comparison has no block');
  t.end();
});

void t.test('Markdown and HTML show the comparison before the findings', (t) => {
  const compared = compareReports(now, earlier);
  const markdown = markdownReport(compared);
  t.match(markdown, /\| regressed \| 2 \| CHAT-001, CHAT-003 \|\n\| new failures \| 1 \|/);
  t.match(markdown, '1 requirement could be judged for the first time: 1 fails (CHAT-011).');
  t.ok(markdown.indexOf('### Compared with') < markdown.indexOf('### Failures'));
  const run = newRunRecord({ target: now.target, startedAt: now.startedAt, areas: ['chat'] });
  const page = htmlReport(compared, { run, exchanges: [] });
  t.match(page, /regressed<\/dt>\s*<dd><a href="#CHAT-001">CHAT-001<\/a>/);
  t.match(page, /CHAT-007/, 'a requirement that only the earlier run had');
  t.notMatch(page, 'href="#CHAT-007"', 'has no link');
  t.ok(page.indexOf('id="comparison"') < page.indexOf('id="findings"'));
  t.end();
});

void t.test('the report shows different settings of the earlier run', (t) => {
  const other = createReport(
    { 'USERS-001': 'pass', 'CHAT-001': 'not_selected' },
    { kitVersion: '0.3.0', requirementSet: '0.3', verdict: 'not-judged' },
  );
  const compared = compareReports(
    createReport({ 'USERS-001': 'not_selected', 'CHAT-001': 'pass' }),
    other,
  );
  t.same(compared.comparison.differences, [
    'Different requirement set: 0.3 before, 0.2 now.',
    'Different kit version: 0.3.0 before, 0.1.0 now.',
    'Different areas: users before, chat now.',
    'The earlier run could not be judged.',
  ]);
  t.end();
});

void t.test('requirements that were blocked before are apart from regressions', (t) => {
  const before = createReport({
    'CHAT-001': 'blocked',
    'CHAT-002': 'blocked',
    'CHAT-003': 'error',
    'CHAT-004': 'blocked',
    'CHAT-005': 'blocked',
    'CHAT-006': 'not_observed',
  });
  const compared = compareReports(
    createReport({
      'CHAT-001': 'fail',
      'CHAT-002': 'pass',
      'CHAT-003': 'fail',
      'CHAT-004': 'warn',
      'CHAT-005': 'blocked',
      'CHAT-006': 'fail',
    }),
    before,
  );
  t.match(compared.comparison, {
    sentence:
      '4 requirements could be judged for the first time: 2 fail (CHAT-001 003), 1 warns (CHAT-004).',
    regressions: [],
    newFailures: ['CHAT-006'],
    firstJudged: ['CHAT-001', 'CHAT-002', 'CHAT-003', 'CHAT-004'],
    unchanged: ['CHAT-005'],
  });
  const lines = comparisonLines(compared, { style: plainStyle, width: 80 });
  t.match(lines.join(' '), /judged for the first time: 2 fail \(CHAT-001\s+003\)/);
  const cleared = compareReports(createReport({ 'CHAT-001': 'pass' }), before);
  t.match(
    cleared.comparison.sentence,
    '1 requirement could be judged for the first time: none fails.',
  );
  t.end();
});

void t.test('a failure that becomes a note in another requirement set is not fixed', (t) => {
  const before = report([row('CHAT-001', { verdict: 'fail' })]);
  const later = report([row('CHAT-001', { verdict: 'note', addedLater: true })]);
  t.match(compareReports(later, before).comparison, { fixes: [], otherChanges: ['CHAT-001'] });
  t.end();
});

void t.test('a sentence names every changed verdict, including warnings and notes', (t) => {
  const before = createReport({
    'CHAT-001': 'fail',
    'CHAT-002': 'warn',
    'CHAT-003': 'note',
    'CHAT-004': 'pass',
    'CHAT-005': 'not_observed',
  });
  const say = (verdicts: Record<string, Verdict>): string =>
    describeChanges(createReport(verdicts), before, 'run 1');
  t.equal(
    say({ 'CHAT-001': 'fail', 'CHAT-002': 'pass', 'CHAT-003': 'pass' }),
    'Changed since run 1: fixed CHAT-002; still failing CHAT-001; note to pass CHAT-003.',
  );
  t.equal(
    say({ 'CHAT-003': 'not_observed' }),
    'Changed since run 1: note to not observed CHAT-003.',
  );
  t.equal(
    say({ 'CHAT-003': 'note', 'CHAT-004': 'not_selected', 'CHAT-005': 'pass' }),
    'Nothing changed since run 1.',
  );
  const ids = Array.from({ length: 13 }, (_, nth) => `CHAT-1${10 + nth}`);
  const all = (verdict: Verdict) =>
    createReport(Object.fromEntries(ids.map((id) => [id, verdict])));
  t.equal(
    describeChanges(all('blocked'), all('pass'), 'run 2'),
    'Changed since run 2: pass to blocked 13 requirements.',
  );
  t.end();
});

void t.test('after a partial run, the other verdicts come from the previous run', (t) => {
  const whole = createReport({ 'CHAT-001': 'fail', 'CHAT-002': 'warn' });
  const partial = createReport({ 'CHAT-001': 'pass', 'CHAT-002': 'not_selected' });
  const known = completeReport(partial, whole);
  t.equal(
    describeChanges(createReport({ 'CHAT-001': 'pass', 'CHAT-002': 'pass' }), known, 'run 2'),
    'Changed since run 2: fixed CHAT-002.',
  );
  t.end();
});
