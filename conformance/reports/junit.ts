import type { CheckReport, RequirementVerdict } from '../../src/contract/index.ts';

/**
 * The report as JUnit XML: a suite an area, a test case a requirement. A fail is a `failure`, an
 * error of the kit an `error`; what was not judged is `skipped` with its reason, except that a
 * blocked requirement of a run that was not judged is an `error`: a CI must not read it as green.
 */
export function junitReport(report: CheckReport): string {
  const areas = [...new Set(report.requirements.map(({ area }) => area))];
  const suites = areas.map((area) => suite(area, report));
  const { fail = 0, error = 0 } = report.counts;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="sandbox-kit check" tests="${report.requirements.length}" failures="${fail}" errors="${error + blockedErrors(report.requirements, report)}">`,
    ...suites,
    '</testsuites>',
    '',
  ].join('\n');
}

function blockedErrors(rows: readonly RequirementVerdict[], report: CheckReport): number {
  return report.verdict === 'not-judged'
    ? rows.filter(({ verdict }) => verdict === 'blocked').length
    : 0;
}

function suite(area: string, report: CheckReport): string {
  const rows = report.requirements.filter((one) => one.area === area);
  const count = (...verdicts: string[]): number =>
    rows.filter(({ verdict }) => verdicts.includes(verdict)).length;
  const blocked = blockedErrors(rows, report);
  const skipped = count('not_applicable', 'not_observed', 'not_selected', 'blocked') - blocked;
  return [
    `  <testsuite name="${area}" timestamp="${report.startedAt}" tests="${rows.length}" failures="${count('fail')}" errors="${count('error') + blocked}" skipped="${skipped}">`,
    ...rows.map((one) => testCase(one, report)),
    '  </testsuite>',
  ].join('\n');
}

function testCase(one: RequirementVerdict, report: CheckReport): string {
  const open = `    <testcase classname="sandbox-kit.${one.area}" name="${escaped(`${one.id} ${one.says}`)}"`;
  const inner = detail(one, report);
  return inner === '' ? `${open}/>` : `${open}>\n      ${inner}\n    </testcase>`;
}

function detail(one: RequirementVerdict, report: CheckReport): string {
  const reason = escaped(one.reason ?? one.verdict);
  switch (one.verdict) {
    case 'pass':
      return '';
    case 'fail':
      return `<failure message="${escaped(`expected ${one.expected ?? ''}, received ${one.received ?? ''}`)}">${escaped(findingText(one))}</failure>`;
    case 'warn':
    case 'note':
      return `<system-out>${escaped(findingText(one))}</system-out>`;
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

/** Text safe in XML 1.0: markup escaped, characters that XML cannot hold replaced. */
function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '\uFFFD');
}
