/** What the reports say of a run as a whole: its verdict, what stands beside it, and what is left out. */
import t from 'tap';
import {
  htmlReport,
  explanation,
  junitReport,
  markdownReport,
  reportOf,
  requirementIds,
  serviceRequirementIds,
  terminalReport,
  applyKnownFailures,
} from '../../../conformance/index.ts';
import { toExchange } from '../../../conformance/engine/transcript/transcript.ts';
import {
  violations,
  type CallEvent,
  type ExchangeRecord,
  type RunRecord,
} from '../../../src/contract/index.ts';
import { plainStyle } from '../../../src/report-kit/terminal.ts';
import { failed, report, row } from '../../helpers/check-report.ts';

const runRecord: RunRecord = {
  ...{ record: 'run', kitVersion: '0.1.0', suite: '2026-11', target: 'http://127.0.0.1:1' },
  ...{ seed: 'a-seed', startedAt: '2026-11-20T09:30:00.000Z', areas: ['chat'] },
  ...{ allowHttp: false, keyGiven: false, concurrency: 1 },
};
const says = (from: CallEvent['from'], message: object): CallEvent[] => [
  { atMs: 1, from, kind: 'message', text: JSON.stringify(message) },
];

const NO_TRANSCRIPT = { run: runRecord, exchanges: [] };

void t.test('an explanation fits 80 columns, whichever it is of', async (t) => {
  for (const id of [...requirementIds, ...serviceRequirementIds]) {
    const text = (await explanation(id, { style: plainStyle, width: 80 })) ?? '';
    t.match(text, id);
    for (const line of text.split('\n')) t.ok(line.length <= 80, line);
  }
});

void t.test('what only a call with media shows is not told to be sent by one line', (t) => {
  const call: ExchangeRecord = {
    ...{ record: 'exchange', id: 10, probe: 'voice/conversation', step: 'conversation' },
    ...{ endpoint: 'voice', intent: 'valid', startedMs: 0, endedMs: 1 },
    request: { method: 'GET', path: '/voice', headers: {} },
    response: { status: 101, headers: {}, body: '' },
    call: {
      events: [
        ...says('kit', { type: 'start_call', session_id: 's', metadata: { audio_config: {} } }),
        ...says('sandbox', { type: 'call_ready', call_id: 'c', session_id: 'other' }),
        { atMs: 2, from: 'kit', kind: 'connected' },
        ...says('sandbox', { type: 'conversation_update', call_id: 'other', session_id: 's' }),
      ],
    },
  };
  const run: RunRecord = { ...runRecord, areas: ['voice'], voiceUrl: 'ws://127.0.0.1:1/voice' };
  const judged = reportOf({ run, exchanges: [toExchange(call)] }, run.startedAt);
  const lineOf = (id: string) => judged.requirements.find((one) => one.id === id)?.curl;
  t.match(lineOf('VOICE-023'), /^npx wscat .*start_call/);
  t.equal(
    lineOf('VOICE-032'),
    "sandbox-kit check 'http://127.0.0.1:1' --area voice --save-audio calls # takes a call: exchange 10 on the page of --html",
  );
  t.end();
});

void t.test('JUnit: areas that were not asked for are left out', (t) => {
  const other = row('CHAT-001', { verdict: 'not_selected', reason: 'No.', evidence: [] });
  const xml = junitReport(report([other, row('USERS-001')]));
  t.match(xml, /<testsuites [^>]*tests="1"/);
  t.equal(xml.match(/<testsuite /g)?.length, 1);
  t.notMatch(xml, /CHAT|skipped message/);
  t.end();
});

void t.test('where only the baseline is wrong, every report says that first', (t) => {
  const stale = applyKnownFailures(report([row('CHAT-001'), row('USERS-001')]), [
    { id: 'CHAT-001', comment: 'known' },
  ]);
  const text = terminalReport(stale, { style: plainStyle, width: 80, tookMs: 1_234 });
  t.match(text, /\nBASELINE IS STALE {2}1 of its entries met by now, 2 pass, 1\.2 s\n$/);
  t.notMatch(text, /CONFORMING/);
  t.match(markdownReport(stale), /^## sandbox-kit check: baseline is stale\n/);
  t.match(htmlReport(stale, NO_TRANSCRIPT), /<title>Baseline is stale: /);
  const failing = applyKnownFailures(report([row('CHAT-001'), row('USERS-001', failed)]), [
    { id: 'CHAT-001', comment: 'known' },
  ]);
  t.match(terminalReport(failing, { style: plainStyle, width: 80 }), /\nNOT CONFORMING {2}1 pass/);
  t.end();
});

void t.test('what has to be known beside the verdict stands next to it', (t) => {
  const notice = 'Media was not judged: no answer to its offer was taken.';
  const given = report([row('CHAT-001')], { notices: [notice], waived: ['plain HTTP'] });
  t.same(violations('CheckReport', given), []);
  const text = terminalReport(given, { style: plainStyle, width: 80 });
  t.equal(text, `waived: plain HTTP\n${notice}\nCONFORMING  1 pass\n`);
  t.match(markdownReport(given), /> Media was not judged/);
  t.match(htmlReport(given, NO_TRANSCRIPT), `<p class="waiver">${notice}</p>`);
  t.end();
});
