/** The views of a load report: text of a sandbox is text, all is countable, and none is too wide. */
import t from 'tap';
import {
  htmlReport,
  junitReport,
  markdownReport,
  terminalReport,
  withComparison,
} from '../../../load/index.ts';
import { checkGenerator } from '../../../load/self-check/self-check.ts';
import { notTested, targetRows } from '../../../load/verdict/targets.ts';
import { exitCodeOf, applySelfCheck, decideRunVerdict } from '../../../load/verdict/targets.ts';
import {
  findViolations,
  type LoadReport,
  type LoadTarget,
  type LoadVerdict,
} from '../../../src/contract/index.ts';
import { ansiStyle, plainStyle } from '../../../src/report-kit/terminal.ts';
import { runLoad, withTarget } from '../../helpers/load.ts';

t.setTimeout(60_000);

const EVIL =
  '</script><b>\u001B[31m\u202E\u0000 [a](http://x) `c` |--| <img src=x> @all $x$ "q" \'';

/** A report of a run in which a sandbox said what it liked, wherever that goes into a report. */
async function evilReport(): Promise<LoadReport> {
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

const evil = await evilReport();

/** A report with one target of each verdict that is given. */
function reportOf(...verdicts: LoadVerdict[]): LoadReport {
  const ids = Object.values(targetRows);
  const targets = verdicts.map((verdict, nth): LoadTarget => ({
    ...notTested(ids[nth % ids.length] ?? targetRows.availability, 'It is so.'),
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

void t.test('terminal: 80 columns at most, and nothing that moves the cursor', (t) => {
  t.ok(evil.faultSamples.length > 0 && evil.comparison);
  const text = terminalReport(evil, { style: plainStyle, width: 80 });
  for (const line of text.split('\n')) t.ok(line.length <= 80, line);
  t.notMatch(text.replaceAll('\n', ''), /[\p{Cc}\u202A-\u202E]/u);
  t.match(text, /25 {2}rate_limited: HTTP 429/);
  const coloured = terminalReport(evil, { style: ansiStyle, width: 80 });
  // eslint-disable-next-line no-control-regex -- it is what colours are made of
  t.equal(coloured.replaceAll(/\u001B\[\d+m/g, ''), text, 'colours add nothing but colour');
  t.end();
});

void t.test('terminal: the verdict comes last, and each word with its target', (t) => {
  const words = ['PASS', 'FAIL', 'NOT PROVEN', 'NOT TESTED'] as const;
  const text = terminalReport(reportOf(...words), { style: plainStyle, width: 80 });
  for (const word of words) t.match(text, new RegExp(`^${word} +[A-Z0-9]`, 'm'));
  t.match(text.trimEnd().split('\n\n').at(-1), /^FAIL {2}/);
  t.end();
});

void t.test('JUnit: well-formed, countable, and red unless the exit code is 0', (t) => {
  const cases: [LoadReport, red: boolean][] = [
    [reportOf('PASS', 'NOT TESTED'), false],
    [reportOf('PASS', 'FAIL'), true],
    [reportOf('PASS', 'NOT PROVEN'), true],
    [{ ...reportOf('PASS', 'NOT PROVEN'), exitCode: 0 }, false],
    [reportOf('INVALID RUN'), true],
    [reportOf('NOT TESTED'), true],
    [evil, true],
  ];
  for (const [report, red] of cases) {
    const xml = junitReport(report);
    const count = (pattern: RegExp): number => xml.match(pattern)?.length ?? 0;
    const name = `${report.verdict}, exit ${report.exitCode}`;
    t.equal(count(/<(failure|error)[ >]/g) > 0, red, name);
    t.equal(count(/<testcase /g), count(/<\/testcase>/g), name);
    for (const [key, element] of [
      ['tests', 'testcase'],
      ['failures', 'failure'],
      ['errors', 'error'],
      ['skipped', 'skipped'],
    ] as const) {
      const said = new RegExp(` ${key}="(\\d+)"`).exec(xml)?.[1];
      t.equal(Number(said), count(new RegExp(`<${element}[ />]`, 'g')), `${name}: ${key}`);
    }
    const tag = /<\/?[a-z-]+(?: [a-z]+="[^"<]*")*\/?>/g;
    const [head = '', ...body] = xml.split('\n');
    t.equal(head, '<?xml version="1.0" encoding="UTF-8"?>');
    t.notMatch(body.join('\n').replaceAll(tag, ''), /[<>]|&(?!amp;|lt;|gt;|quot;|apos;)/, name);
    t.notMatch(xml, /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u, name);
  }
  t.end();
});

void t.test('Markdown: a table whose cells hold what they are given, as text', (t) => {
  const text = markdownReport(evil);
  t.notMatch(text, /<b>|<img|<\/script>|\]\(http|`c`|(?!\n)[\p{Cc}\u202E]/u);
  const lines = text.split('\n').filter((line) => line.startsWith('| '));
  t.ok(lines.length >= 8);
  for (const line of lines) t.match(line, /^(\|[^|]+){4,7}\|$/);
  t.end();
});

void t.test('HTML: text stays text, and nothing is odd where nothing was measured', (t) => {
  t.notMatch(htmlReport(evil), /<b>|<img|<script|(?!\n)[\p{Cc}\u202E]/u);
  const bare = { ...reportOf('INVALID RUN'), timeline: [], streams: [], curve: [] };
  for (const report of [evil, bare, reportOf('PASS')]) {
    t.notMatch(htmlReport(report), /undefined|\[object|NaN|Infinity/);
  }
  t.end();
});

void t.test('a comparison says better or worse only where the ranges do not meet', (t) => {
  const of = (measured: number | null, low: number | null, high: number | null): LoadReport => ({
    ...evil,
    targets: [
      { ...notTested(targetRows.chatLatency, ''), measured, range95: [low, high] },
      { ...notTested(targetRows.availability, ''), measured, range95: [low, high] },
    ],
  });
  const changes = (now: LoadReport, before: LoadReport): string[] =>
    withComparison(now, before).comparison?.rows.map(({ change }) => change) ?? [];
  t.same(
    changes(of(50, 40, 60), of(90, 80, 95)),
    ['better', 'worse'],
    'less time, less availability',
  );
  t.same(changes(of(90, 80, 95), of(50, 40, 60)), ['worse', 'better']);
  t.same(changes(of(50, 40, 60), of(55, 50, 65)), ['alike', 'alike']);
  t.same(changes(of(50, null, 60), of(90, 80, 95)), ['unknown', 'unknown']);
  t.same(
    changes(of(null, null, null), of(null, null, null)),
    [],
    'what neither measured is left out',
  );
  const other = {
    ...evil,
    plan: { ...evil.plan, ratePerSecond: 7, engine: 'autocannon' as const },
  };
  const { differences = [] } = withComparison(evil, other).comparison ?? {};
  t.match(
    differences.join(' '),
    /Different engine: autocannon before, open now\. Different rate: 7 before/,
  );
  t.end();
});

void t.test('the self-check: beyond any of its limits nothing that was tested is judged', (t) => {
  const well = {
    ...{ lagP99Ms: 3, lagMaxMs: 40, missed: 0, held: 0, localFaults: 0 },
    cost: { cpuPercent: 8, loopBusy: 0.1 },
  };
  t.same(checkGenerator(well).reasons, []);
  const broken = [
    { ...well, lagP99Ms: 51 },
    { ...well, lagMaxMs: 251 },
    { ...well, missed: 1 },
    { ...well, held: 1 },
    { ...well, localFaults: 1 },
    { ...well, cost: { cpuPercent: 71, loopBusy: 0.1 } },
    { ...well, cost: { cpuPercent: 8, loopBusy: 0.71 } },
  ];
  for (const figures of broken) {
    const check = checkGenerator(figures);
    t.equal(check.valid, false);
    t.match(check.reasons, [
      /^The load generator could not keep up: .* \(limit .*\)\. Run it on a faster/,
    ]);
    const { targets } = reportOf('PASS', 'FAIL', 'NOT PROVEN', 'NOT TESTED');
    const words = applySelfCheck(targets, check).map(({ verdict }) => verdict);
    t.same(words, ['INVALID RUN', 'INVALID RUN', 'INVALID RUN', 'NOT TESTED']);
    t.equal(decideRunVerdict(targets, check), 'INVALID RUN');
  }
  t.end();
});

void t.test('exit codes: 0, 1, 3, 3, 3; accepted, NOT PROVEN is 0 and the others stay', (t) => {
  const words = ['PASS', 'FAIL', 'NOT PROVEN', 'INVALID RUN', 'NOT TESTED'] as const;
  t.same(
    words.map((word) => exitCodeOf(word, false)),
    [0, 1, 3, 3, 3],
  );
  t.same(
    words.map((word) => exitCodeOf(word, true)),
    [0, 1, 0, 3, 3],
  );
  const { verdict, exitCode } = reportOf('PASS', 'NOT TESTED');
  t.same([verdict, exitCode], ['PASS', 0], 'what was not tested lowers nothing');
  t.equal(reportOf('PASS', 'NOT PROVEN', 'FAIL').verdict, 'FAIL', 'the worst counts');
  t.same(findViolations('LoadReport', JSON.parse(JSON.stringify(evil))), []);
  t.end();
});
