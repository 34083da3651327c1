import type { LoadReport, LoadTarget } from '../../src/contract/index.ts';
import { junitXml, type TestCase } from '../../src/report-kit/junit.ts';
import { formatTime, describeTraceId } from './wording.ts';

/**
 * Writes the report as JUnit XML, with a test case per target. FAIL is a `failure`; INVALID RUN is an
 * `error`, and so is NOT PROVEN unless it is accepted; NOT TESTED is `skipped`. A run with a nonzero exit
 * code has a failure or an error, so that CI never shows it as green.
 */
export function junitReport(report: LoadReport): string {
  const { verdict, exitCode, sentence, targets, startedAt } = report;
  const untested: TestCase = {
    classname: CLASS_NAME,
    name: 'run',
    outcome: { kind: 'error', message: sentence },
  };
  const cases = [
    ...(verdict === 'NOT TESTED' && exitCode !== 0 ? [untested] : []),
    ...targets.map((target) => caseOf(target, report)),
  ];
  const examples = describeExamples(report);
  return junitXml('sandbox-kit load', [
    {
      name: 'load',
      timestamp: startedAt,
      cases: cases.map((each) => withExamples(each, examples)),
    },
  ]);
}

const CLASS_NAME = 'sandbox-kit.load';

/** Returns the trace ids of failed and slow requests, one per line. */
function describeExamples({ faultSamples, slowest = [] }: LoadReport): string {
  return [
    ...faultSamples.map(
      ({ stream, kind, detail, traceId }) =>
        `${stream}, ${kind}: ${detail}${describeTraceId(traceId)}`,
    ),
    ...slowest.map(
      ({ stream, responseMs, traceId }) =>
        `${stream}, slow: ${formatTime(responseMs)}${describeTraceId(traceId)}`,
    ),
  ].join('\n');
}

function withExamples(each: TestCase, examples: string): TestCase {
  const { outcome } = each;
  if (outcome?.kind !== 'failure' || examples === '') return each;
  return { ...each, outcome: { ...outcome, text: examples } };
}

function caseOf({ id, verdict, reason }: LoadTarget, { exitCode, sentence }: LoadReport): TestCase {
  const base = { classname: CLASS_NAME, name: id };
  const message = `${verdict}: ${reason}`;
  switch (verdict) {
    case 'PASS':
      return { ...base, output: reason };
    case 'FAIL':
      return { ...base, outcome: { kind: 'failure', message } };
    case 'INVALID RUN':
      return { ...base, outcome: { kind: 'error', message: `${verdict}: ${sentence} ${reason}` } };
    case 'NOT PROVEN':
      return { ...base, outcome: { kind: exitCode === 0 ? 'skipped' : 'error', message } };
    case 'NOT TESTED':
      return { ...base, outcome: { kind: 'skipped', message } };
  }
}
