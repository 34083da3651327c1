/** What the reports say of a run as a whole: its verdict, what stands beside it, and what is left out. */
import t from 'tap';
import {
  htmlReport,
  junitReport,
  markdownReport,
  terminalReport,
  withBaseline,
} from '../conformance/index.ts';
import { violations, type RunRecord } from '../src/contract/index.ts';
import { plainPaint } from '../src/shared/paint.ts';
import { failed, report, row } from './helpers/check-report.ts';

const runRecord: RunRecord = {
  ...{ record: 'run', kitVersion: '0.1.0', suite: '2026-11', target: 'http://127.0.0.1:1' },
  ...{ seed: 'a-seed', startedAt: '2026-11-20T09:30:00.000Z', areas: ['chat'] },
  ...{ allowHttp: false, keyGiven: false, concurrency: 1 },
};
const NO_TRANSCRIPT = { run: runRecord, exchanges: [] };

void t.test('JUnit: areas that were not asked for are left out', (t) => {
  const other = row('CHAT-001', { verdict: 'not_selected', reason: 'No.', evidence: [] });
  const xml = junitReport(report([other, row('USERS-001')]));
  t.match(xml, /<testsuites [^>]*tests="1"/);
  t.equal(xml.match(/<testsuite /g)?.length, 1);
  t.notMatch(xml, /CHAT|skipped message/);
  t.end();
});

void t.test('where only the baseline is wrong, every report says that first', (t) => {
  const stale = withBaseline(report([row('CHAT-001'), row('USERS-001')]), [
    { id: 'CHAT-001', comment: 'known' },
  ]);
  const text = terminalReport(stale, { paint: plainPaint, width: 80, tookMs: 1_234 });
  t.match(text, /\nBASELINE IS STALE {2}1 of its entries met by now, 2 pass, 1\.2 s\n$/);
  t.notMatch(text, /CONFORMING/);
  t.match(markdownReport(stale), /^## sandbox-kit check: baseline is stale\n/);
  t.match(htmlReport(stale, NO_TRANSCRIPT), /<title>Baseline is stale: /);
  const failing = withBaseline(report([row('CHAT-001'), row('USERS-001', failed)]), [
    { id: 'CHAT-001', comment: 'known' },
  ]);
  t.match(terminalReport(failing, { paint: plainPaint, width: 80 }), /\nNOT CONFORMING {2}1 pass/);
  t.end();
});

void t.test('what has to be known beside the verdict stands next to it', (t) => {
  const notice = 'Media was not judged: no answer to its offer was taken.';
  const given = report([row('CHAT-001')], { notices: [notice], waived: ['plain HTTP'] });
  t.same(violations('CheckReport', given), []);
  const text = terminalReport(given, { paint: plainPaint, width: 80 });
  t.equal(text, `waived: plain HTTP\n${notice}\nCONFORMING  1 pass\n`);
  t.match(markdownReport(given), /> Media was not judged/);
  t.match(htmlReport(given, NO_TRANSCRIPT), `<p class="waiver">${notice}</p>`);
  t.end();
});
