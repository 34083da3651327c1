import type { LoadReport, LoadTarget } from '../../src/contract/index.ts';

/**
 * The report as JUnit XML: a test case a target. FAIL is a `failure`; INVALID RUN, and NOT PROVEN
 * where it is not accepted, an `error`; NOT TESTED is `skipped`. A run that does not exit with 0 has
 * a failure or an error: a CI must not read it as green.
 */
export function junitReport(report: LoadReport): string {
  const cases = [...wholeRun(report), ...report.targets.map((target) => caseOf(target, report))];
  const count = (outcome: Case['outcome']): number =>
    cases.filter((one) => one.outcome === outcome).length;
  const counts = `tests="${cases.length}" failures="${count('failure')}" errors="${count('error')}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="sandbox-kit load" ${counts}>`,
    `  <testsuite name="load" timestamp="${escaped(report.startedAt)}" ${counts} skipped="${count('skipped')}">`,
    ...cases.map(({ xml }) => xml),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

interface Case {
  outcome: 'pass' | 'failure' | 'error' | 'skipped';
  xml: string;
}

/** A run that tested nothing is no success either. */
function wholeRun({ verdict, sentence }: LoadReport): Case[] {
  if (verdict !== 'NOT TESTED') return [];
  return [caseNamed('run', 'error', `<error message="${escaped(sentence)}"/>`)];
}

function caseOf({ id, verdict, reason }: LoadTarget, { exitCode }: LoadReport): Case {
  const message = escaped(`${verdict}: ${reason}`);
  switch (verdict) {
    case 'PASS':
      return caseNamed(id, 'pass', `<system-out>${escaped(reason)}</system-out>`);
    case 'FAIL':
      return caseNamed(id, 'failure', `<failure message="${message}"/>`);
    case 'INVALID RUN':
      return caseNamed(id, 'error', `<error message="${message}"/>`);
    case 'NOT PROVEN':
      return exitCode === 0
        ? caseNamed(id, 'skipped', `<skipped message="${message}"/>`)
        : caseNamed(id, 'error', `<error message="${message}"/>`);
    case 'NOT TESTED':
      return caseNamed(id, 'skipped', `<skipped message="${message}"/>`);
  }
}

function caseNamed(name: string, outcome: Case['outcome'], inner: string): Case {
  const open = `    <testcase classname="sandbox-kit.load" name="${escaped(name)}">`;
  return { outcome, xml: `${open}\n      ${inner}\n    </testcase>` };
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

// Control characters have no place in XML 1.0, not even as references.
const UNWRITABLE = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

function escaped(text: string): string {
  return text
    .replaceAll(UNWRITABLE, '\uFFFD')
    .replaceAll(/[&<>"']/g, (character) => entities[character] ?? '')
    .replaceAll(/[\n\r\t]/g, ' ');
}
