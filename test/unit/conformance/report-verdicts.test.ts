/** How every report shows the verdict of a run, its notices, and the areas that did not run. */
import t from 'tap';
import {
  allRequirementIds,
  htmlReport,
  explanation,
  junitReport,
  markdownReport,
  reportOf,
  terminalReport,
  applyKnownFailures,
} from '../../../conformance/index.ts';
import { toExchange } from '../../../conformance/engine/transcript/transcript.ts';
import {
  findViolations,
  type CallEvent,
  type ExchangeRecord,
  type RunRecord,
} from '../../../src/contract/index.ts';
import { plainStyle } from '../../../src/report-kit/terminal.ts';
import { failed, report, row } from '../../support/conformance/check-report.ts';
import { newRunRecord } from '../../support/conformance/run-record.ts';

const runRecord = newRunRecord({ areas: ['chat'], allowHttp: false, keyGiven: false });
const message = (from: CallEvent['from'], payload: object): CallEvent[] => [
  { atMs: 1, from, kind: 'message', text: JSON.stringify(payload) },
];

const NO_TRANSCRIPT = { run: runRecord, exchanges: [] };

void t.test('the explanation of every requirement fits in 80 columns', (t) => {
  for (const id of allRequirementIds) {
    const text = explanation(id, { style: plainStyle, width: 80 }) ?? '';
    t.match(text, id);
    for (const line of text.split('\n')) t.ok(line.length <= 80, line);
  }
  t.end();
});

void t.test('a finding that needs a call with media names the command that places one', (t) => {
  const call: ExchangeRecord = {
    record: 'exchange',
    id: 10,
    probe: 'voice/conversation',
    step: 'conversation',
    endpoint: 'voice',
    intent: 'valid',
    startedMs: 0,
    endedMs: 1,
    request: { method: 'GET', path: '/voice', headers: {} },
    response: { status: 101, headers: {}, body: '' },
    call: {
      events: [
        ...message('kit', { type: 'start_call', session_id: 's', metadata: { audio_config: {} } }),
        ...message('sandbox', { type: 'call_ready', call_id: 'c', session_id: 'other' }),
        { atMs: 2, from: 'kit', kind: 'connected' },
        ...message('sandbox', { type: 'conversation_update', call_id: 'other', session_id: 's' }),
      ],
    },
  };
  const run: RunRecord = { ...runRecord, areas: ['voice'], voiceUrl: 'ws://127.0.0.1:1/voice' };
  const given = reportOf({ run, exchanges: [toExchange(call)] }, run.startedAt);
  const commandOf = (id: string) => given.requirements.find((row) => row.id === id)?.curl;
  t.match(commandOf('VOICE-023'), /^npx wscat .*start_call/);
  t.equal(
    commandOf('VOICE-032'),
    "sandbox-kit check 'http://127.0.0.1:1' --area voice --save-audio calls # needs a call; see exchange 10 in the --html report",
  );
  t.end();
});

void t.test('JUnit: areas that were not selected are left out', (t) => {
  const notSelected = row('CHAT-001', { verdict: 'not_selected', reason: 'No.', evidence: [] });
  const xml = junitReport(report([notSelected, row('USERS-001')]));
  t.match(xml, /<testsuites [^>]*tests="1"/);
  t.equal(xml.match(/<testsuite /g)?.length, 1);
  t.notMatch(xml, /CHAT|skipped message/);
  t.end();
});

void t.test(
  'if the only problem is an outdated list of known failures, every report leads with that',
  (t) => {
    const stale = applyKnownFailures(report([row('CHAT-001'), row('USERS-001')]), [
      { id: 'CHAT-001', comment: 'known' },
    ]);
    const text = terminalReport(stale, { style: plainStyle, width: 80, tookMs: 1_234 });
    t.match(
      text,
      /outdated: CHAT-001 now passes\. [^]*\nKNOWN FAILURES OUTDATED {2}2 pass, 1\.23 s\n$/,
    );
    t.notMatch(text, /CONFORMING/);
    t.match(markdownReport(stale), /^## sandbox-kit check: known failures outdated\n/);
    t.match(htmlReport(stale, NO_TRANSCRIPT), /<title>Known failures outdated: /);
    const failing = applyKnownFailures(report([row('CHAT-001'), row('USERS-001', failed)]), [
      { id: 'CHAT-001', comment: 'known' },
    ]);
    t.match(
      terminalReport(failing, { style: plainStyle, width: 80 }),
      /\nNOT CONFORMING {2}1 pass/,
    );
    t.end();
  },
);

void t.test('notices and waivers are shown next to the verdict', (t) => {
  const notice = 'Media was not judged: the sandbox rejected every answer to its offer.';
  const given = report([row('CHAT-001')], { notices: [notice], waived: ['plain HTTP'] });
  t.same(findViolations('CheckReport', given), []);
  const text = terminalReport(given, { style: plainStyle, width: 80 });
  t.equal(text, `Waived: plain HTTP.\n${notice}\nCONFORMING  1 pass\n`);
  t.match(markdownReport(given), /> Media was not judged/);
  t.match(htmlReport(given, NO_TRANSCRIPT), `<div class="remark warn">${notice}</div>`);
  t.end();
});
