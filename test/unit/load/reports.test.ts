/** The formats of a load report: they escape text of the sandbox, fit their width, and add up. */
import t from 'tap';
import {
  htmlReport,
  junitReport,
  markdownReport,
  terminalReport,
  withComparison,
} from '../../../load/index.ts';
import { withVoice } from '../../../load/report/voice-report.ts';
import { withTarget } from '../../support/measurements/load-target.ts';
import { loadOptions, runLoad } from '../../support/measurements/run-load.ts';
import { createTwoCallVoice } from '../../support/measurements/voice-load.ts';
import { checkGenerator, mergeSelfChecks } from '../../../load/self-check/self-check.ts';
import { applySelfCheck, decideRunVerdict, exitCodeOf } from '../../../load/verdict/run-verdict.ts';
import { notTested } from '../../../load/verdict/target.ts';
import { listBlockedTargets } from '../../../load/verdict/run-targets.ts';
import { targets as allTargets, targetTable } from '../../../load/verdict/targets.ts';
import {
  findViolations,
  type LoadProfileName,
  type LoadReport,
  type LoadTarget,
  type LoadVerdict,
} from '../../../src/contract/index.ts';
import { ansiStyle, plainStyle } from '../../../src/report-kit/terminal.ts';
import { assertInertMarkdown } from '../../support/pages/markdown.ts';

const EVIL =
  '</script><b>\u001B[31m\u202E\u0000 [a](http://x) `c` |--| <img src=x> @all $x$ "q" \'';

/** Creates a report with hostile text in every field that a sandbox controls. */
async function createEvilReport(): Promise<LoadReport> {
  const { url } = await withTarget(t, ({ nth, answer, response }) => {
    if (nth % 2 === 0) answer();
    else response.writeHead(429, { 'retry-after': EVIL.replaceAll(/[^\x20-\x7e]/g, '?') }).end();
  });
  const report = await runLoad(url, { windowMs: 1_000 });
  const [sample] = report.faultSamples;
  return {
    ...withComparison(report, { ...report, sandbox: EVIL, targets: report.targets }),
    blockedBy: { message: EVIL, cure: EVIL },
    aborted: `${EVIL} ${'word '.repeat(40)}`,
    faultSamples: sample ? [{ ...sample, detail: EVIL, session: EVIL }] : [],
    notes: [EVIL, 'long '.repeat(50)],
    seed: 'seed',
  };
}

const evil = await createEvilReport();

/** Creates a report with one target per verdict. */
function createReport(...verdicts: LoadVerdict[]): LoadReport {
  const targets = verdicts.map((verdict, nth): LoadTarget => ({
    ...notTested(
      allTargets[nth % allTargets.length]?.row ?? targetTable.availability.row,
      'Test reason.',
    ),
    verdict,
  }));
  const check = { valid: !verdicts.includes('INVALID RUN'), reasons: [], figures: [] };
  const verdict = decideRunVerdict(targets, check);
  return {
    ...evil,
    targets,
    selfCheck: check,
    verdict,
    exitCode: exitCodeOf(verdict, false),
  };
}

void t.test('terminal: at most 80 columns, without control characters from the sandbox', (t) => {
  t.ok(evil.faultSamples.length > 0 && evil.comparison);
  const text = terminalReport(evil, { style: plainStyle, width: 80 });
  for (const line of text.split('\n')) t.ok(line.length <= 80, line);
  t.notMatch(text.replaceAll('\n', ''), /[\p{Cc}\u202A-\u202E]/u);
  t.match(text, /25 {2}rate_limited: HTTP 429/);
  const colored = terminalReport(evil, { style: ansiStyle, width: 80 });
  // eslint-disable-next-line no-control-regex -- color codes start with this character
  t.equal(colored.replaceAll(/\u001B\[\d+m/g, ''), text, 'colors only add color codes');
  t.end();
});

void t.test('terminal: each target has its verdict, and the verdict of the run comes last', (t) => {
  const verdicts = ['PASS', 'FAIL', 'NOT PROVEN', 'NOT TESTED'] as const;
  const text = terminalReport(createReport(...verdicts), { style: plainStyle, width: 80 });
  for (const verdict of verdicts) t.match(text, new RegExp(`^${verdict} +[A-Z0-9]`, 'm'));
  t.match(text.trimEnd().split('\n\n').at(-1), /^FAIL {2}/);
  t.end();
});

void t.test(
  'JUnit: well-formed, with correct counts, and with failures unless the exit code is 0',
  (t) => {
    const cases: [LoadReport, hasFailures: boolean][] = [
      [createReport('PASS', 'NOT TESTED'), false],
      [createReport('PASS', 'FAIL'), true],
      [createReport('PASS', 'NOT PROVEN'), true],
      [{ ...createReport('PASS', 'NOT PROVEN'), exitCode: 0 }, false],
      [createReport('INVALID RUN'), true],
      [createReport('NOT TESTED'), true],
      [evil, true],
    ];
    for (const [report, hasFailures] of cases) {
      const xml = junitReport(report);
      const count = (pattern: RegExp): number => xml.match(pattern)?.length ?? 0;
      const name = `${report.verdict}, exit ${report.exitCode}`;
      t.equal(count(/<(failure|error)[ >]/g) > 0, hasFailures, name);
      t.equal(count(/<testcase /g), count(/<\/testcase>/g), name);
      for (const [key, element] of [
        ['tests', 'testcase'],
        ['failures', 'failure'],
        ['errors', 'error'],
        ['skipped', 'skipped'],
      ] as const) {
        const total = new RegExp(` ${key}="(\\d+)"`).exec(xml)?.[1];
        t.equal(Number(total), count(new RegExp(`<${element}[ />]`, 'g')), `${name}: ${key}`);
      }
      const tag = /<\/?[a-z-]+(?: [a-z]+="[^"<]*")*\/?>/g;
      const [head = '', ...body] = xml.split('\n');
      t.equal(head, '<?xml version="1.0" encoding="UTF-8"?>');
      t.notMatch(body.join('\n').replaceAll(tag, ''), /[<>]|&(?!amp;|lt;|gt;|quot;|apos;)/, name);
      t.notMatch(xml, /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u, name);
    }
    t.end();
  },
);

void t.test('Markdown: text of the sandbox is escaped and does not break the tables', (t) => {
  const text = markdownReport(evil);
  t.notMatch(text, /(?!\n)[\p{Cc}\u202E]/u);
  assertInertMarkdown(t, text, [evil.sandbox]);
  const lines = text.split('\n').filter((line) => line.startsWith('| '));
  t.ok(lines.length >= 8);
  for (const line of lines) t.match(line, /^(\|([^|\\]|\\.)+){4,7}\|$/);
  t.end();
});

void t.test(
  'HTML: text of the sandbox is escaped, and missing measurements leave no undefined values',
  (t) => {
    t.notMatch(htmlReport(evil), /<b>|<img|(?!\n)[\p{Cc}\u202E]/u);
    const countScripts = (page: string): number => page.split('<script').length;
    t.equal(countScripts(htmlReport(evil)), countScripts(htmlReport(createReport('PASS'))));
    const empty = { ...createReport('INVALID RUN'), timeline: [], streams: [], curve: [] };
    for (const report of [evil, empty, createReport('PASS')]) {
      t.notMatch(htmlReport(report), /undefined|\[object|NaN|Infinity/);
    }
    t.end();
  },
);

void t.test(
  'a comparison shows better or worse only if the confidence ranges do not overlap',
  (t) => {
    const withMeasurement = (
      measured: number | null,
      low: number | null,
      high: number | null,
    ): LoadReport => ({
      ...evil,
      targets: [
        { ...notTested(targetTable.chatLatency.row, ''), measured, range95: [low, high] },
        { ...notTested(targetTable.availability.row, ''), measured, range95: [low, high] },
      ],
    });
    const changes = (now: LoadReport, before: LoadReport): string[] =>
      withComparison(now, before).comparison?.rows.map(({ change }) => change) ?? [];
    t.same(
      changes(withMeasurement(50, 40, 60), withMeasurement(90, 80, 95)),
      ['better', 'worse'],
      'lower latency is better; lower availability is worse',
    );
    t.same(changes(withMeasurement(90, 80, 95), withMeasurement(50, 40, 60)), ['worse', 'better']);
    t.same(changes(withMeasurement(50, 40, 60), withMeasurement(55, 50, 65)), [
      'unchanged',
      'unchanged',
    ]);
    t.same(changes(withMeasurement(50, null, 60), withMeasurement(90, 80, 95)), [
      'unknown',
      'unknown',
    ]);
    t.same(
      changes(withMeasurement(null, null, null), withMeasurement(null, null, null)),
      [],
      'targets that neither run measured are omitted',
    );
    const earlierReport = {
      ...evil,
      plan: { ...evil.plan, ratePerSecond: 7, engine: 'autocannon' as const },
    };
    const { differences = [] } = withComparison(evil, earlierReport).comparison ?? {};
    t.match(
      differences.join(' '),
      /Different engine: autocannon before, open now\. Different rate: 7 before/,
    );
    t.end();
  },
);

void t.test(
  'if any limit of the self-check is exceeded, every tested target is INVALID RUN',
  (t) => {
    const valid = {
      lagP99Ms: 3,
      lagMaxMs: 40,
      missed: 0,
      localFaults: 0,
      cost: { cpuPercent: 8, loopBusy: 0.1 },
    };
    t.same(checkGenerator(valid).reasons, []);
    const late = [
      { ...valid, lagP99Ms: 51 },
      { ...valid, lagMaxMs: 251 },
      { ...valid, cost: { cpuPercent: 71, loopBusy: 0.1 } },
      { ...valid, cost: { cpuPercent: 8, loopBusy: 0.71 } },
    ];
    const losses = [
      { ...valid, missed: 1 },
      { ...valid, localFaults: 1 },
      { ...valid, lagMaxMs: 251, missed: 1 },
    ];
    for (const figures of [...late, ...losses]) {
      const check = checkGenerator(figures);
      t.equal(check.valid, false);
      const advice =
        figures.localFaults > 0
          ? 'Free ports, open files'
          : 'Run it on a faster machine, or on one';
      t.match(check.reasons, [/^The load generator could not keep up: .* \(limit .*\)\./]);
      t.match(check.reasons[0], advice);
      t.notMatch(check.reasons[0], 'fewer', 'fewer requests prove no target');
      const { targets } = createReport('FAIL', 'PASS', 'PASS', 'NOT PROVEN', 'NOT TESTED');
      const verdicts = applySelfCheck(targets, check).map(({ verdict }) => verdict);
      const judged = ['INVALID RUN', 'INVALID RUN', 'INVALID RUN', 'INVALID RUN', 'NOT TESTED'];
      t.same(verdicts, judged, 'a missed latency target, throughput, and error rates stay strict');
      t.equal(decideRunVerdict(targets, check), 'INVALID RUN');
      const passed = { ...notTested(targetTable.chatLatency.row, ''), verdict: 'PASS' as const };
      const [latency] = applySelfCheck([passed], check);
      const expected = late.includes(figures) ? 'PASS' : 'INVALID RUN';
      t.equal(latency?.verdict, expected, 'a response time counts from the due time');
      const calls = { valid: false, reasons: ['The calls ended.'], figures: [] };
      const [withCalls] = applySelfCheck([passed], mergeSelfChecks(check, calls));
      t.equal(withCalls?.verdict, 'INVALID RUN', 'the run is invalid for another reason, too');
      const stop = checkGenerator(figures, undefined, ['Stopped.']);
      t.same(stop.reasons, ['Stopped.'], 'a faster machine would not help');
      const [stopped] = applySelfCheck([passed], stop);
      t.equal(stopped?.verdict, 'INVALID RUN', 'the run was stopped');
    }
    t.end();
  },
);

void t.test('a run that could not start judges no target, and tests those of its profile', (t) => {
  const listInvalid = (profile: LoadProfileName): string[] =>
    listBlockedTargets(profile, 'Nothing listens.')
      .filter(({ verdict }) => verdict === 'INVALID RUN')
      .map(({ id }) => id);
  t.same(listInvalid('health'), ['availability', 'health-latency']);
  t.same(listInvalid('voice'), ['voice-latency', 'voice-connections']);
  t.same(
    listInvalid('all'),
    allTargets.map(({ row }) => row.id),
  );
  const [chatLatency, , availability] = listBlockedTargets('voice', 'Nothing listens.');
  t.match(chatLatency, { verdict: 'NOT TESTED', reason: 'This profile does not test chat.' });
  t.match(availability, { verdict: 'NOT TESTED', reason: 'This profile sends no requests.' });
  t.end();
});

void t.test('a run with calls judges its request targets once', (t) => {
  const selfCheck = { valid: false, isOnlyLate: true, reasons: ['Late.'], figures: [] };
  const reason = 'The p99 is 5 ms.';
  const passed = { ...notTested(targetTable.chatLatency.row, reason), verdict: 'PASS' as const };
  const report = { ...evil, targets: applySelfCheck([passed], selfCheck), selfCheck };
  const run = {
    calls: [],
    seconds: [],
    costs: [],
    lostProcesses: [],
    windowStartMs: undefined,
    ranMs: 0,
    processes: 1,
    wasInterrupted: false,
  };
  const { targets } = withVoice(report, run, loadOptions('http://localhost'));
  t.same(
    targets.map((target) => [target.verdict, target.reason]),
    [['PASS', `${reason} This includes the lag of the load generator.`]],
  );
  const lostProcesses = [{ calls: 1, exitReason: 'SIGKILL' }];
  const broken = withVoice(report, { ...run, lostProcesses }, loadOptions('http://localhost'));
  t.match(broken.targets, [{ verdict: 'INVALID RUN' }], 'the calls make the run invalid');
  t.end();
});

void t.test('long times are apart from each other', (t) => {
  const voice = createTwoCallVoice('');
  const times = { ...voice.turnResponseMs, max: 1_310, mean: -217.4 };
  const report = { ...createReport('PASS'), voice: { ...voice, turnResponseMs: times } };
  const text = terminalReport(report, { style: plainStyle, width: 80 });
  t.match(text, /response latency .* 1\.31 s -217\.4 ms$/m);
  t.end();
});

void t.test('each report says once that a run is invalid, and why', (t) => {
  const sentence = 'Not judged: The load generator could not keep up: send lag p99 51 ms.';
  const reasons = [sentence.replace('Not judged: ', '')];
  const figures = [{ name: 'send lag p99', value: 51, limit: 50, unit: 'ms', holds: false }];
  const { blockedBy, aborted, ...invalid } = createReport('INVALID RUN', 'INVALID RUN', 'PASS');
  const report = { ...invalid, sentence, selfCheck: { valid: false, reasons, figures } };
  for (const [text, unjudged] of [
    [terminalReport(report, { style: plainStyle, width: 80 }), 1],
    [markdownReport(report), 2],
    // The page also contains the JSON report. It counts the targets, too.
    [htmlReport(report).replace(/<script type="application\/json".*/, ''), 3],
  ] as const) {
    const count = (words: string): number => text.replaceAll(/\s+/g, ' ').split(words).length - 1;
    t.equal(count('could not keep up'), 1, text);
    t.equal(count('Only latency targets that pass with the lag included are judged.'), 1, text);
    t.equal(count('NOT JUDGED'), unjudged);
  }
  const text = terminalReport(report, { style: plainStyle, width: 80 });
  t.equal(text.split('INVALID RUN').length, 2);
  t.match(text, /\nINVALID RUN {2}Not judged: [^]*\. 3 targets: 1 passed, 2 not\s+judged\.\n$/);
  t.match(junitReport(report), /<error message="INVALID RUN: Not judged: The load generator/);
  t.end();
});

void t.test('acceptNotProven changes the exit code of NOT PROVEN only', (t) => {
  const verdicts = ['PASS', 'FAIL', 'NOT PROVEN', 'INVALID RUN', 'NOT TESTED'] as const;
  t.same(
    verdicts.map((verdict) => exitCodeOf(verdict, false)),
    [0, 1, 3, 3, 3],
  );
  t.same(
    verdicts.map((verdict) => exitCodeOf(verdict, true)),
    [0, 1, 0, 3, 3],
  );
  const { verdict, exitCode } = createReport('PASS', 'NOT TESTED');
  t.same([verdict, exitCode], ['PASS', 0], 'untested targets do not change the verdict');
  t.equal(createReport('PASS', 'NOT PROVEN', 'FAIL').verdict, 'FAIL', 'the worst verdict counts');
  t.same(findViolations('LoadReport', JSON.parse(JSON.stringify(evil))), []);
  t.end();
});
