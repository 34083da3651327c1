import type { LoadReport, LoadTarget } from '../../src/contract/index.ts';
import { xmlText } from '../../src/report-kit/xml.ts';

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
    `  <testsuite name="load" timestamp="${xmlText(report.startedAt)}" ${counts} skipped="${count('skipped')}">`,
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
  return [caseNamed('run', 'error', `<error message="${xmlText(sentence)}"/>`)];
}

function caseOf({ id, verdict, reason }: LoadTarget, { exitCode }: LoadReport): Case {
  const message = xmlText(`${verdict}: ${reason}`);
  switch (verdict) {
    case 'PASS':
      return caseNamed(id, 'pass', `<system-out>${xmlText(reason)}</system-out>`);
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
  const open = `    <testcase classname="sandbox-kit.load" name="${xmlText(name)}">`;
  return { outcome, xml: `${open}\n      ${inner}\n    </testcase>` };
}
