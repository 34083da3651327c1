/** The views of a report: pure, and safe from what a sandbox puts into its answers. */
import { spawnSync } from 'node:child_process';
import t, { type Test } from 'tap';
import {
  junitReport,
  markdownReport,
  terminalReport,
  applyKnownFailures,
  type KnownFailure,
} from '../../../conformance/index.ts';
import { requestCommand } from '../../../conformance/reports/curl.ts';
import { violations, type CheckReport, type ExchangeRecord } from '../../../src/contract/index.ts';
import { ansiStyle, plainStyle } from '../../../src/report-kit/terminal.ts';
import { failed, report, row, type Row } from '../../helpers/check-report.ts';

/** All that a sandbox might try, at once. */
const EVIL = [
  '\u001B[31mred\u001B]0;title\u0007 \u009B2J \u202Eback\r\nline\u0000',
  ']]> <script>alert("1")</script> & \'quoted\'',
  '| `code` **bold** [link](https://evil.example) www.evil.example @someone $x$ ![i](a)',
  'w'.repeat(200),
].join(' ');

const evil = report(
  [
    row('CHAT-001', { ...failed, received: EVIL, expected: EVIL, pointer: `/${EVIL}`, hint: EVIL }),
    row('CHAT-002', { verdict: 'warn', received: EVIL }),
    row('CHAT-003', { verdict: 'note', received: EVIL }),
    row('CHAT-004', { verdict: 'error', reason: EVIL, evidence: [] }),
    row('CHAT-005', { verdict: 'not_observed', reason: EVIL, evidence: [] }),
    row('CHAT-006', { ...failed, accepted: EVIL }),
    row('USERS-001'),
  ],
  {
    ...{ verdict: 'not-conforming', exitCode: 1, target: `http://${EVIL}`, waived: [EVIL] },
    ...{ observedBehavior: { 'POST /users': EVIL }, staleKnownFailures: ['USERS-001'] },
    causes: [{ description: EVIL, clears: ['CHAT-001'], verified: true }],
    blockedBy: { id: 'redirect', message: EVIL, cure: EVIL, evidence: [] },
  },
);

/** The characters that move a cursor, colour a screen or turn text around; a line's end apart. */
const UNPRINTABLE = /(?!\n)[\p{Cc}\u202A-\u202E\u2066-\u2069]/u;

void t.test('terminal: nothing of a sandbox is more than text, and all fits 80 columns', (t) => {
  t.same(violations('CheckReport', evil), [], 'the report itself conforms');
  for (const verbose of [false, true]) {
    const text = terminalReport(evil, { style: plainStyle, width: 80, tookMs: 1_234, verbose });
    t.notMatch(text, UNPRINTABLE);
    t.notMatch(text, /undefined|\[object/);
    for (const line of text.split('\n')) {
      if (!line.trim().startsWith('curl -i ')) t.ok(line.length <= 80, line);
    }
  }
  const styled = terminalReport(evil, { style: ansiStyle, width: 80, verbose: true });
  const [, ...codes] = styled.split('\u001B');
  t.ok(codes.length > 0);
  for (const code of codes) t.match(code, /^\[\d\d?m/, 'only our own codes');
  t.end();
});

void t.test('terminal: what is blocked is told, and no count is torn from its word', (t) => {
  const rows = [
    row('CHAT-001', { verdict: 'blocked', reason: 'The plain request was refused.' }),
    row('CHAT-002', { verdict: 'not_observed', reason: 'It was not seen.' }),
  ];
  const given = report(rows, { verdict: 'not-judged', exitCode: 3 });
  const text = terminalReport(given, { style: plainStyle, width: 80 });
  t.match(text, /Without a verdict\n {2}blocked: The plain request was refused\. \[CHAT-001\]\n/);
  t.notMatch(text, /not seen/);
  t.match(text, /^More {5}--verbose tells why 1 got no verdict/m);
  for (let width = 60; width <= 100; width++) {
    const tally = terminalReport(given, { style: plainStyle, width, tookMs: 12_345 });
    t.match(tally, /\b1 not observed, *\n? *12\.3 s\n$/, `${width} columns`);
  }
  t.end();
});

void t.test('terminal: what counts, in what order', (t) => {
  const rows = [
    row('CHAT-001', { verdict: 'warn', received: '9 s', expected: 'under 5 s' }),
    row('CHAT-002', failed),
    row('CHAT-003', { ...failed, accepted: 'known' }),
    row('USERS-001'),
  ];
  const given = report(rows, { verdict: 'not-conforming', exitCode: 1 });
  const text = terminalReport(given, { style: plainStyle, width: 80 });
  t.match(text, /FAIL {2}CHAT-002[^]*WARN {2}CHAT-001[^]*Accepted[^]*CHAT-003[^]*NOT CONFORMING/);
  t.notMatch(text, /FAIL {2}CHAT-003/);
  t.match(text, /\nNOT CONFORMING {2}1 warn, 2 fail \(1 accepted\), 1 pass\n$/);
  t.end();
});

/** Counts of a JUnit file, after a strict look at its form. */
function junitCounts(t: Test, xml: string): Record<string, number> {
  const [head = '', ...lines] = xml.split('\n');
  t.equal(head, '<?xml version="1.0" encoding="UTF-8"?>');
  const body = lines.join('\n');
  const tag = /<(\/?)([a-z-]+)((?: [a-z]+="[^"<]*")*)(\/?)>/g;
  t.notMatch(body.replaceAll(tag, ''), /[<>]|&(?!amp;|lt;|gt;|quot;)/, 'no other markup');
  t.notMatch(body, /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u, 'XML 1.0 holds it');
  const open: string[] = [];
  const seen: Record<string, number> = {};
  for (const [, close, name = '', , empty] of body.matchAll(tag)) {
    if (close) t.equal(open.pop(), name, `</${name}> closes what is open`);
    else {
      seen[name] = (seen[name] ?? 0) + 1;
      if (!empty) open.push(name);
    }
  }
  t.same(open, [], 'all is closed');
  return seen;
}

const attribute = (xml: string, element: string, name: string): number =>
  [...xml.matchAll(new RegExp(`<${element} [^>]*?\\b${name}="(\\d+)"`, 'g'))].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );

void t.test('JUnit: well-formed, and the counts are those of its cases', (t) => {
  const shut = row('CHAT-001', { verdict: 'blocked', reason: 'Nothing there.', evidence: [] });
  for (const given of [
    evil,
    report([row('CHAT-001'), row('USERS-001', failed)]),
    report([shut], { verdict: 'not-judged', exitCode: 3 }),
    report([shut, row('USERS-001', failed)], { verdict: 'not-conforming', exitCode: 1 }),
    report([row('CHAT-001')], { exitCode: 1, staleKnownFailures: ['CHAT-001', 'CHAT-002'] }),
  ]) {
    const xml = junitReport(given);
    const seen = junitCounts(t, xml);
    for (const [count, element] of [
      ['tests', 'testcase'],
      ['failures', 'failure'],
      ['errors', 'error'],
    ] as const) {
      t.equal(attribute(xml, 'testsuites', count), seen[element] ?? 0, `${count} of all`);
      t.equal(attribute(xml, 'testsuite', count), seen[element] ?? 0, `${count} of the suites`);
    }
    t.equal(attribute(xml, 'testsuite', 'skipped'), seen['skipped'] ?? 0);
  }
  t.end();
});

void t.test('JUnit: red exactly where the exit code is not 0', (t) => {
  const unseen = row('CHAT-001', { verdict: 'not_observed', reason: 'Never seen.', evidence: [] });
  const shut = row('CHAT-001', { verdict: 'blocked', reason: 'Nothing there.', evidence: [] });
  const rows: [string, CheckReport, boolean][] = [
    ['conforming', report([row('CHAT-001')]), false],
    ['accepted', report([row('CHAT-001', { ...failed, accepted: 'known' })]), false],
    ['stale', report([row('CHAT-001')], { exitCode: 1, staleKnownFailures: ['CHAT-001'] }), true],
    ['a fail', report([row('CHAT-001', failed)], { exitCode: 1 }), true],
    ['blocked', report([shut], { verdict: 'not-judged', exitCode: 3 }), true],
    ['nothing seen', report([unseen], { verdict: 'not-judged', exitCode: 3 }), true],
    ['nothing at all', report([], { verdict: 'not-judged', exitCode: 3 }), true],
  ];
  for (const [name, given, red] of rows) {
    const xml = junitReport(given);
    t.equal(/<(failure|error)[ >]/.test(xml), red, name);
  }
  t.end();
});

void t.test('Markdown: what a sandbox says stays in its cell, and is no markup', (t) => {
  const text = markdownReport(evil);
  t.notMatch(text, UNPRINTABLE);
  t.notMatch(text, /<script|\]\(|`|https?:\/\/|www\.evil|@someone|\$x|!\[/);
  for (const line of text.split('\n')) {
    if (line.startsWith('| CHAT')) t.match(line, /^(\|[^|]+){3,5}\|$/, 'as many cells as columns');
  }
  t.match(text, /^## sandbox-kit check: not-conforming\n/);
  t.match(text, /The baseline is stale/);
  t.match(text, /### Accepted by the baseline\n\n.*\n.*\n\| CHAT-006 \| fail \|/);
  t.end();
});

/** A recorded request with what a test wants otherwise. */
function exchange(request: Partial<ExchangeRecord['request']>): ExchangeRecord {
  return {
    ...{ record: 'exchange', id: 1, probe: 'chat/forms', step: 'minimal' },
    ...{ endpoint: 'chat', intent: 'valid', startedMs: 0, endedMs: 1 },
    request: { method: 'POST', path: '/v1/chat/completions', headers: {}, ...request },
  };
}

/** The arguments that a shell gives to the program of a line. */
function argumentsOf(line: string): string[] {
  const script = line.replace(/^curl/, `printf '%s\\0'`);
  const env = { SANDBOX_KIT_API_KEY: 'the key' };
  const { stdout, stderr } = spawnSync('/bin/sh', ['-c', script], { env });
  return String(stdout).split('\0').slice(0, -1).concat(String(stderr)).filter(Boolean);
}

void t.test('curl: a shell hands over exactly what was sent, and the key by its name', (t) => {
  const body = `{"a":"it's \\"$HOME\\" \`id\` $(id) \\\\ !x \n\t{*} é👋"}`;
  const headers = { 'content-type': 'application/json', 'x-odd': `'; id #`, 'x-empty': '' };
  const line = requestCommand(exchange({ body, headers }), 'http://127.0.0.1:8080/base/');
  t.same(argumentsOf(line), [
    ...['-i', '-X', 'POST'],
    ...['-H', 'content-type: application/json', '-H', `x-odd: '; id #`, '-H', 'x-empty;'],
    ...['--data-raw', body, 'http://127.0.0.1:8080/base/v1/chat/completions'],
  ]);
  const keyed = requestCommand(
    exchange({ headers: { authorization: 'Bearer <redacted>' } }),
    'http://h',
  );
  t.match(keyed, '"authorization: Bearer $SANDBOX_KIT_API_KEY"');
  t.match(argumentsOf(keyed), ['-i', '-X', 'POST', '-H', 'authorization: Bearer the key']);
  const untyped = requestCommand(exchange({ body: '@/etc/passwd' }), 'http://h');
  t.match(argumentsOf(untyped).join(' '), '--data-raw @/etc/passwd', 'a body is no file name');
  t.ok(argumentsOf(untyped).includes('content-type:'), 'curl adds no type of its own');
  t.notMatch(requestCommand(exchange({ method: 'GET' }), 'http://h'), /-X/);
  t.end();
});

void t.test('baseline: what is accepted does not count, what is met is stale', (t) => {
  const why: KnownFailure[] = [{ id: 'CHAT-001', comment: 'known' }];
  const blocked: Partial<Row> = { verdict: 'blocked', reason: 'CHAT-002 failed.', evidence: [] };
  const blockedBy = { id: 'refused', message: 'Nothing there.', cure: 'Start it.', evidence: [] };
  const ok = row('USERS-001');
  const cases: [string, CheckReport, verdict: string, exitCode: number, stale?: string[]][] = [
    ['accepted', report([ok, row('CHAT-001', failed)]), 'conforming', 0],
    ['accepted while blocked', report([ok, row('CHAT-001', blocked)]), 'conforming', 0],
    [
      'another fails',
      report([row('CHAT-001', failed), row('CHAT-002', failed)]),
      'not-conforming',
      1,
    ],
    ['another is blocked', report([ok, row('CHAT-002', blocked)]), 'not-judged', 3],
    ['nothing passed', report([row('CHAT-001', failed)]), 'not-judged', 3],
    ['the gate is shut', report([row('CHAT-001', blocked)], { blockedBy }), 'not-judged', 3],
    ['an error of ours', report([ok, row('CHAT-002', { verdict: 'error' })]), 'not-judged', 70],
    ['met by now', report([row('CHAT-001'), ok]), 'not-conforming', 1, ['CHAT-001']],
    ['not seen', report([ok, row('CHAT-001', { verdict: 'not_observed' })]), 'conforming', 0],
    [
      'met, and another fails',
      report([row('CHAT-001'), row('CHAT-002', failed)]),
      'not-conforming',
      1,
      ['CHAT-001'],
    ],
  ];
  for (const [name, given, verdict, exitCode, stale] of cases) {
    const judged = applyKnownFailures(given, why);
    t.match(judged, { verdict, exitCode }, name);
    t.same(judged.staleKnownFailures, stale, `${name}: stale`);
    t.same(violations('CheckReport', judged), []);
  }
  const given = report([row('CHAT-001', failed)]);
  t.match(applyKnownFailures(given, why).requirements[0], { verdict: 'fail', accepted: 'known' });
  t.notOk(given.requirements[0]?.accepted, 'the report that was given is left as it is');
  t.end();
});
