import type { CheckReport, RequirementVerdict } from '../../src/contract/index.ts';
import { xmlLines, xmlText } from '../../src/report-kit/xml.ts';
import { staleSentence } from './headline.ts';

/**
 * The report as JUnit XML: a suite an area, a test case a requirement. A fail is a `failure`, an
 * error of the kit an `error`; what was not judged, or is accepted by the baseline, is `skipped` with
 * its reason; areas that were not asked for are left out. A run that does not exit with 0 has a failure or an error: a CI must not read it as
 * green.
 */
export function junitReport(given: CheckReport): string {
  const selected = given.requirements.filter(({ verdict }) => verdict !== 'not_selected');
  const report = { ...given, requirements: selected };
  const areas = [...new Set(report.requirements.map(({ area }) => area))];
  const whole = wholeRun(report);
  const { failures, errors } = tallyOf(report.requirements, report);
  const tests = report.requirements.length + whole.tests;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="sandbox-kit check" tests="${tests}" failures="${failures + whole.failures}" errors="${errors + whole.errors}">`,
    ...whole.xml,
    ...areas.map((area) => suite(area, report)),
    '</testsuites>',
    '',
  ].join('\n');
}

interface Tally {
  tests: number;
  failures: number;
  errors: number;
}

/** What is wrong with the run as a whole, and shows in no requirement. */
function wholeRun(report: CheckReport): Tally & { xml: string[] } {
  const { staleKnownFailures = [], blockedBy, verdict, startedAt } = report;
  const failures = staleKnownFailures.map((id) => {
    const message = xmlText(staleSentence([id]));
    return runCase(`baseline ${xmlText(id)}`, `<failure message="${message}"/>`);
  });
  const isSilent = verdict === 'not-judged' && tallyOf(report.requirements, report).errors === 0;
  const why = xmlText(blockedBy?.message ?? 'Nothing was seen that a verdict could rest on.');
  const errors = isSilent ? [runCase('judgement', `<error message="not judged: ${why}"/>`)] : [];
  const cases = [...failures, ...errors];
  const counts = { tests: cases.length, failures: failures.length, errors: errors.length };
  if (cases.length === 0) return { ...counts, xml: [] };
  const open = `  <testsuite name="run" timestamp="${xmlText(startedAt)}" ${attributes(counts)} skipped="0">`;
  return { ...counts, xml: [open, ...cases, '  </testsuite>'] };
}

const runCase = (name: string, inner: string): string =>
  `    <testcase classname="sandbox-kit.run" name="${name}">\n      ${inner}\n    </testcase>`;

const attributes = ({ tests, failures, errors }: Tally): string =>
  `tests="${tests}" failures="${failures}" errors="${errors}"`;

/** How an open requirement stands in the file; a blocked one is red only where nothing else is. */
function tallyOf(rows: readonly RequirementVerdict[], report: CheckReport): Tally {
  const open = rows.filter(({ accepted }) => accepted === undefined);
  const count = (verdict: string): number => open.filter((one) => one.verdict === verdict).length;
  const blocked = report.verdict === 'not-judged' ? count('blocked') : 0;
  return { tests: rows.length, failures: count('fail'), errors: count('error') + blocked };
}

function suite(area: string, report: CheckReport): string {
  const rows = report.requirements.filter((one) => one.area === area);
  const cases = rows.map((one) => testCase(one, report));
  const skipped = cases.filter((xml) => xml.includes('<skipped')).length;
  const open = `<testsuite name="${xmlText(area)}" timestamp="${xmlText(report.startedAt)}"`;
  return [
    `  ${open} ${attributes(tallyOf(rows, report))} skipped="${skipped}">`,
    ...cases,
    '  </testsuite>',
  ].join('\n');
}

function testCase(one: RequirementVerdict, report: CheckReport): string {
  const open = `    <testcase classname="sandbox-kit.${xmlText(one.area)}" name="${xmlText(`${one.id} ${one.rule}`)}"`;
  const inner = detail(one, report);
  return inner === '' ? `${open}/>` : `${open}>\n      ${inner}\n    </testcase>`;
}

function detail(one: RequirementVerdict, report: CheckReport): string {
  const reason = xmlText(one.reason ?? one.verdict);
  if (one.accepted !== undefined) {
    return `<skipped message="${xmlText(`${one.verdict}, accepted: ${one.accepted}`)}"/>`;
  }
  switch (one.verdict) {
    case 'pass':
      return '';
    case 'fail':
      return `<failure message="${xmlText(`expected ${one.expected ?? ''}, received ${one.received ?? ''}`)}">${xmlLines(findingText(one))}</failure>`;
    case 'warn':
    case 'note':
      return `<system-out>${xmlLines(findingText(one))}</system-out>`;
    case 'error':
      return `<error message="${reason}"/>`;
    case 'blocked':
      return report.verdict === 'not-judged'
        ? `<error message="blocked: ${reason}"/>`
        : `<skipped message="blocked: ${reason}"/>`;
    case 'not_applicable':
    case 'not_observed':
    case 'not_selected':
      return `<skipped message="${one.verdict}: ${reason}"/>`;
  }
}

function findingText(one: RequirementVerdict): string {
  const exchanges = one.evidence.map(({ exchange }) => exchange).join(', ');
  return [
    `${one.verdict}: spec ${one.section}, statements ${one.statements.join(', ')}`,
    one.pointer ? `at ${one.pointer}` : '',
    `expected ${one.expected ?? ''}`,
    `received ${one.received ?? ''}`,
    one.hint ?? '',
    `exchanges ${exchanges}`,
    one.curl ?? '',
  ]
    .filter((line) => line !== '')
    .join('\n');
}
