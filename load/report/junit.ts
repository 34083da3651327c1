import type { LoadReport, LoadTarget } from '../../src/contract/index.ts';
import { junitXml, type Outcome, type TestCase } from '../../src/report-kit/junit.ts';
import { describeTraceId, listExamples } from './wording.ts';

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
  const examples = describeExamples(report);
  const cases = [
    ...(verdict === 'NOT TESTED' && exitCode !== 0 ? [untested] : []),
    ...targets.map((target) => ({
      classname: CLASS_NAME,
      name: target.id,
      outcome: outcomeOf(target, report, examples),
      output: target.verdict === 'PASS' ? target.reason : undefined,
    })),
  ];
  return junitXml('sandbox-kit load', [{ name: 'load', timestamp: startedAt, cases }]);
}

const CLASS_NAME = 'sandbox-kit.load';

/** Describes failed and slow requests with their trace ids, one per line. */
function describeExamples(report: LoadReport): string | undefined {
  const lines = listExamples(report).map(
    ({ stream, what, traceId }) => `${stream}, ${what}${describeTraceId(traceId)}`,
  );
  return lines.length === 0 ? undefined : lines.join('\n');
}

function outcomeOf(
  { verdict, reason }: LoadTarget,
  { exitCode, sentence }: LoadReport,
  examples: string | undefined,
): Outcome | undefined {
  const message = `${verdict}: ${reason}`;
  switch (verdict) {
    case 'PASS':
      return undefined;
    case 'FAIL':
      return { kind: 'failure', message, text: examples };
    case 'INVALID RUN':
      return { kind: 'error', message: `${verdict}: ${sentence} ${reason}` };
    case 'NOT PROVEN':
      return { kind: exitCode === 0 ? 'skipped' : 'error', message };
    case 'NOT TESTED':
      return { kind: 'skipped', message };
  }
}
