/** Report formats: each is complete, and none lets the text of a sandbox break its structure. */
import { spawnSync } from 'node:child_process';
import t, { type Test } from 'tap';
import {
  htmlReport,
  junitReport,
  markdownReport,
  terminalReport,
  applyKnownFailures,
} from '../../../conformance/index.ts';
import { requestCommand } from '../../../conformance/reports/curl.ts';
import {
  findViolations,
  type CheckReport,
  type ExchangeRecord,
} from '../../../src/contract/index.ts';
import type { KnownFailure } from '../../../src/options/shared.ts';
import { ansiStyle, plainStyle } from '../../../src/report-kit/terminal.ts';
import { failed, report, row, type Row } from '../../support/conformance/check-report.ts';
import { newRunRecord } from '../../support/conformance/run-record.ts';
import { assertInertMarkdown } from '../../support/pages/markdown.ts';

/** Text that tries to break out of every report format. */
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
    verdict: 'not-conforming',
    exitCode: 1,
    target: `http://${EVIL}`,
    waived: [EVIL],
    observedBehavior: { 'POST /users': EVIL },
    staleKnownFailures: ['USERS-001'],
    causes: [{ description: EVIL, clears: ['CHAT-001'], verified: true }],
    blockedBy: { id: 'redirect', message: EVIL, cure: EVIL, evidence: [] },
  },
);

/** Control characters and text direction overrides, except the line feed. */
const UNPRINTABLE = /(?!\n)[\p{Cc}\u202A-\u202E\u2066-\u2069]/u;

void t.test(
  'terminal: text of the sandbox cannot inject escape codes, and every line fits in 80 columns',
  (t) => {
    t.same(findViolations('CheckReport', evil), [], 'the report matches its schema');
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
    for (const code of codes) t.match(code, /^\[\d\d?m/, 'only the kit adds escape codes');
    t.end();
  },
);

void t.test(
  'terminal: blocked requirements are listed with the reason, and lines never break between a count and its word',
  (t) => {
    const rows = [
      row('CHAT-001', { verdict: 'blocked', reason: 'The plain request was refused.' }),
      row('CHAT-002', { verdict: 'not_observed', reason: 'It was not seen.' }),
    ];
    const given = report(rows, { verdict: 'not-judged', exitCode: 3 });
    const text = terminalReport(given, { style: plainStyle, width: 80 });
    t.match(text, /Without a verdict\n {2}blocked: The plain request was refused\. \[CHAT-001\]\n/);
    t.notMatch(text, /not seen/);
    t.match(text, /^More {6}--verbose shows why 2 requirements were not judged\.$/m);
    for (let width = 60; width <= 100; width++) {
      const text = terminalReport(given, { style: plainStyle, width, tookMs: 12_345 });
      t.match(text, /\b1 not observed, *\n? *12\.3 s\n$/, `${width} columns`);
    }
    t.end();
  },
);

void t.test(
  'terminal: failures come first, then warnings, known failures, and the verdict',
  (t) => {
    const rows = [
      row('CHAT-001', { verdict: 'warn', received: '9 s', expected: 'under 5 s' }),
      row('CHAT-002', failed),
      row('CHAT-003', { ...failed, accepted: 'known' }),
      row('USERS-001'),
    ];
    const given = report(rows, { verdict: 'not-conforming', exitCode: 1 });
    const text = terminalReport(given, { style: plainStyle, width: 80 });
    t.match(
      text,
      /FAIL {2}CHAT-002[^]*WARN {2}CHAT-001[^]*Known failures[^]*CHAT-003[^]*NOT CONFORMING/,
    );
    t.notMatch(text, /FAIL {2}CHAT-003/);
    t.match(text, /\nNOT CONFORMING {2}1 warn, 2 fail \(1 known\), 1 pass\n$/);
    t.end();
  },
);

/** Asserts that a JUnit file is well-formed XML, and counts its elements by name. */
function countElements(t: Test, xml: string): Record<string, number> {
  const [head = '', ...lines] = xml.split('\n');
  t.equal(head, '<?xml version="1.0" encoding="UTF-8"?>');
  const body = lines.join('\n');
  const tag = /<(\/?)([a-z-]+)((?: [a-z]+="[^"<]*")*)(\/?)>/g;
  t.notMatch(body.replaceAll(tag, ''), /[<>]|&(?!amp;|lt;|gt;|quot;)/, 'no other markup');
  t.notMatch(
    body,
    /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u,
    'only characters that XML 1.0 allows',
  );
  const open: string[] = [];
  const counts: Record<string, number> = {};
  for (const [, close, name = '', , empty] of body.matchAll(tag)) {
    if (close) t.equal(open.pop(), name, `</${name}> closes the open element`);
    else {
      counts[name] = (counts[name] ?? 0) + 1;
      if (!empty) open.push(name);
    }
  }
  t.same(open, [], 'every element is closed');
  return counts;
}

/** Adds up a numeric attribute of all elements with a name. */
const sumAttribute = (xml: string, element: string, name: string): number =>
  [...xml.matchAll(new RegExp(`<${element} [^>]*?\\b${name}="(\\d+)"`, 'g'))].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );

void t.test('JUnit: the file is well-formed, and its counts match its test cases', (t) => {
  const blocked = row('CHAT-001', { verdict: 'blocked', reason: 'Nothing there.', evidence: [] });
  for (const given of [
    evil,
    report([row('CHAT-001'), row('USERS-001', failed)]),
    report([blocked], { verdict: 'not-judged', exitCode: 3 }),
    report([blocked, row('USERS-001', failed)], { verdict: 'not-conforming', exitCode: 1 }),
    report([row('CHAT-001')], { exitCode: 1, staleKnownFailures: ['CHAT-001', 'CHAT-002'] }),
  ]) {
    const xml = junitReport(given);
    const elements = countElements(t, xml);
    for (const [count, element] of [
      ['tests', 'testcase'],
      ['failures', 'failure'],
      ['errors', 'error'],
    ] as const) {
      t.equal(sumAttribute(xml, 'testsuites', count), elements[element] ?? 0, `total ${count}`);
      t.equal(
        sumAttribute(xml, 'testsuite', count),
        elements[element] ?? 0,
        `${count} of the suites`,
      );
    }
    t.equal(sumAttribute(xml, 'testsuite', 'skipped'), elements['skipped'] ?? 0);
  }
  t.end();
});

void t.test(
  'JUnit: a file contains failures or errors exactly when the exit code is not 0',
  (t) => {
    const notObserved = row('CHAT-001', {
      verdict: 'not_observed',
      reason: 'Never seen.',
      evidence: [],
    });
    const blocked = row('CHAT-001', { verdict: 'blocked', reason: 'Nothing there.', evidence: [] });
    const cases: [name: string, CheckReport, isRed: boolean][] = [
      ['conforming', report([row('CHAT-001')]), false],
      ['a known failure', report([row('CHAT-001', { ...failed, accepted: 'known' })]), false],
      [
        'an outdated known failure',
        report([row('CHAT-001')], { exitCode: 1, staleKnownFailures: ['CHAT-001'] }),
        true,
      ],
      ['a failure', report([row('CHAT-001', failed)], { exitCode: 1 }), true],
      ['blocked', report([blocked], { verdict: 'not-judged', exitCode: 3 }), true],
      ['nothing observed', report([notObserved], { verdict: 'not-judged', exitCode: 3 }), true],
      ['no requirements', report([], { verdict: 'not-judged', exitCode: 3 }), true],
    ];
    for (const [name, given, isRed] of cases) {
      const xml = junitReport(given);
      t.equal(/<(failure|error)[ >]/.test(xml), isRed, name);
    }
    t.end();
  },
);

void t.test('Markdown: text of the sandbox stays in its table cell and is never markup', (t) => {
  const text = markdownReport(evil);
  t.notMatch(text, UNPRINTABLE);
  assertInertMarkdown(t, text);
  for (const line of text.split('\n')) {
    if (line.startsWith('| CHAT')) {
      t.match(line, /^(\|([^|\\]|\\.)+){3}\|$/, 'as many cells as columns');
    }
  }
  t.match(text, /^## sandbox-kit check: not conforming\n/);
  t.match(
    text,
    /The list of known failures is outdated.{1,5} USERS-001 now passes\. Remove it from the file\./,
  );
  t.match(text, /### Known failures\n\n.*\n.*\n\| CHAT-006 \| fail \|/);
  t.end();
});

void t.test('Markdown: the address of the sandbox is a link', (t) => {
  const linked = markdownReport(report([row('CHAT-001')], { target: 'https://a.example/b_c?d=1' }));
  t.match(linked, '\n<https://a.example/b_c?d=1>, suite 2026-11');
  const odd = markdownReport(report([row('CHAT-001')], { target: 'https://a.example/<b> @you' }));
  t.notMatch(odd, /https:|@you/, 'no other text is');
  t.end();
});

const run = newRunRecord({ areas: ['chat'], allowHttp: false, keyGiven: false });

void t.test('HTML and terminal: a command that several requirements share is shown once', (t) => {
  const rows = [row('CHAT-001', failed), row('CHAT-002', failed), row('CHAT-003')];
  const given = report(rows, { verdict: 'not-conforming', exitCode: 1 });
  const page = htmlReport(given, { run, exchanges: [] });
  t.equal(page.split('<pre>curl -i').length, 2);
  t.match(page, /The same request as <a href="#CHAT-001">CHAT-001<\/a>/);
  const text = terminalReport(given, { style: plainStyle, width: 80 });
  t.equal(text.split('curl -i').length, 2);
  t.match(text, / {6}the same request as CHAT-001\n/);
  t.end();
});

/** Returns a recorded chat request with the given changes. */
function exchangeWith(request: Partial<ExchangeRecord['request']>): ExchangeRecord {
  return {
    record: 'exchange',
    id: 1,
    probe: 'chat/forms',
    step: 'minimal',
    endpoint: 'chat',
    intent: 'valid',
    startedMs: 0,
    endedMs: 1,
    request: { method: 'POST', path: '/v1/chat/completions', headers: {}, ...request },
  };
}

/** Returns the arguments that a shell passes to the program of a command line. */
function parseArguments(line: string): string[] {
  const script = line.replace(/^curl/, `printf '%s\\0'`);
  const env = { SANDBOX_KIT_API_KEY: 'the key' };
  const { stdout, stderr } = spawnSync('/bin/sh', ['-c', script], { env });
  return String(stdout).split('\0').slice(0, -1).concat(String(stderr)).filter(Boolean);
}

void t.test(
  'curl: a shell passes the exact request, with the API key from an environment variable',
  (t) => {
    const body = `{"a":"it's \\"$HOME\\" \`id\` $(id) \\\\ !x \n\t{*} é👋"}`;
    const headers = { 'content-type': 'application/json', 'x-odd': `'; id #`, 'x-empty': '' };
    const line = requestCommand(exchangeWith({ body, headers }), 'http://127.0.0.1:8080/base/');
    t.same(parseArguments(line), [
      ...['-i', '-X', 'POST'],
      ...['-H', 'content-type: application/json', '-H', `x-odd: '; id #`, '-H', 'x-empty;'],
      ...['--data-raw', body, 'http://127.0.0.1:8080/base/v1/chat/completions'],
    ]);
    const keyed = requestCommand(
      exchangeWith({ headers: { authorization: 'Bearer <redacted>' } }),
      'http://h',
    );
    t.match(keyed, '"authorization: Bearer $SANDBOX_KIT_API_KEY"');
    t.match(parseArguments(keyed), ['-i', '-X', 'POST', '-H', 'authorization: Bearer the key']);
    const untyped = requestCommand(exchangeWith({ body: '@/etc/passwd' }), 'http://h');
    t.match(
      parseArguments(untyped).join(' '),
      '--data-raw @/etc/passwd',
      'a body is never mistaken for a file name',
    );
    t.ok(parseArguments(untyped).includes('content-type:'), 'curl adds no content type');
    t.notMatch(requestCommand(exchangeWith({ method: 'GET' }), 'http://h'), /-X/);
    t.end();
  },
);

void t.test('curl: a long body is shortened, and the command says so', (t) => {
  const requests = [
    { body: 'é'.repeat(10_000) },
    { body: '20000 bytes of gzip', bodyBase64: Buffer.alloc(20_000, 1).toString('base64') },
  ];
  for (const request of requests) {
    const line = requestCommand(exchangeWith(request), 'http://h');
    t.ok(line.length < 500, line);
    t.match(line, / # shortened: the body has 20000 bytes$/);
  }
  const emoji = requestCommand(exchangeWith({ body: `a${'👋'.repeat(1_000)}` }), 'http://h');
  t.ok(emoji.isWellFormed(), 'no half of a character');
  t.notMatch(requestCommand(exchangeWith({ body: 'x'.repeat(1_000) }), 'http://h'), /shortened/);
  t.end();
});

void t.test('every report names the command that sends the request of a failure again', (t) => {
  const exchange = { ...exchangeWith({}), id: 3 };
  const exchanges = [{ exchange, judgedBy: ['CHAT-001'], breaks: ['CHAT-001'] }];
  const given = {
    ...report([row('CHAT-001', failed)], { verdict: 'not-conforming', exitCode: 1 }),
    resendable: { run, exchanges },
  };
  const recorded = { run, exchanges: [] };
  const layout = { style: plainStyle, width: 80 };
  const command = "sandbox-kit resend 'my report.json' 3";
  const file = 'my report.json';
  t.match(terminalReport(given, { ...layout, resendFile: file }), `\n      ${command}\n`);
  t.match(markdownReport(given, file), command);
  t.match(junitReport(given, file).replaceAll('&apos;', "'"), command);
  t.match(htmlReport(given, recorded, file).replaceAll('&#39;', "'"), command);
  t.match(terminalReport(given, { ...layout, resendFile: '-' }), 'sandbox-kit resend REPORT 3\n');
  const hints = [terminalReport(given, layout), markdownReport(given), htmlReport(given, recorded)];
  for (const text of hints) {
    // The number of this run is that of another exchange in the next one.
    t.match(
      text,
      /To send a request again, add --json report\.json\. The output then shows the\s+commands, such as sandbox-kit resend report\.json NUMBER\./,
    );
    t.notMatch(text, 'resend report.json 3');
  }
  const { resendable: _, ...old } = given;
  t.notMatch(terminalReport(old, { ...layout, resendFile: file }), 'resend');
  t.end();
});

void t.test('known failures do not count as failures, and those that pass are outdated', (t) => {
  const knownFailures: KnownFailure[] = [{ id: 'CHAT-001', comment: 'known' }];
  const blocked: Partial<Row> = { verdict: 'blocked', reason: 'CHAT-002 failed.', evidence: [] };
  const blockedBy = { id: 'refused', message: 'Nothing there.', cure: 'Start it.', evidence: [] };
  const ok = row('USERS-001');
  const cases: [string, CheckReport, verdict: string, exitCode: number, stale?: string[]][] = [
    ['a known failure', report([ok, row('CHAT-001', failed)]), 'conforming', 0],
    ['a known failure that is blocked', report([ok, row('CHAT-001', blocked)]), 'conforming', 0],
    [
      'another requirement fails',
      report([row('CHAT-001', failed), row('CHAT-002', failed)]),
      'not-conforming',
      1,
    ],
    ['another requirement is blocked', report([ok, row('CHAT-002', blocked)]), 'not-judged', 3],
    ['nothing passed', report([row('CHAT-001', failed)]), 'not-judged', 3],
    ['the run is blocked', report([row('CHAT-001', blocked)], { blockedBy }), 'not-judged', 3],
    ['an error of the kit', report([ok, row('CHAT-002', { verdict: 'error' })]), 'not-judged', 70],
    ['it passes', report([row('CHAT-001'), ok]), 'not-conforming', 1, ['CHAT-001']],
    [
      'it is not observed',
      report([ok, row('CHAT-001', { verdict: 'not_observed' })]),
      'conforming',
      0,
    ],
    [
      'it passes, and another requirement fails',
      report([row('CHAT-001'), row('CHAT-002', failed)]),
      'not-conforming',
      1,
      ['CHAT-001'],
    ],
  ];
  for (const [name, given, verdict, exitCode, stale] of cases) {
    const judged = applyKnownFailures(given, knownFailures);
    t.match(judged, { verdict, exitCode }, name);
    t.same(judged.staleKnownFailures, stale, `${name}: outdated`);
    t.same(findViolations('CheckReport', judged), []);
  }
  const given = report([row('CHAT-001', failed)]);
  t.match(applyKnownFailures(given, knownFailures).requirements[0], {
    verdict: 'fail',
    accepted: 'known',
  });
  t.notOk(given.requirements[0]?.accepted, 'the original report is unchanged');
  t.end();
});
