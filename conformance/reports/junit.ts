import type { CheckReport, RequirementVerdict } from '../../src/contract/index.ts';
import { junitXml, type TestCase, type TestSuite } from '../../src/report-kit/junit.ts';
import { commandOf, staleSentence } from './summary.ts';

/**
 * Writes the report as JUnit XML, with a suite per area and a test case per requirement. A fail is a
 * `failure`, an error of the kit an `error`. A requirement that was not judged, or whose failure is known, is
 * `skipped` with its reason; areas that were not selected are left out. A run with a nonzero exit code has a
 * failure or an error, so that CI never shows it as green.
 */
export function junitReport({ requirements, ...report }: CheckReport): string {
  const selected = requirements.filter(({ verdict }) => verdict !== 'not_selected');
  const suites = [...Map.groupBy(selected, ({ area }) => area)].map(([area, rows]): TestSuite => ({
    name: area,
    timestamp: report.startedAt,
    cases: rows.map((row) => testCase(row, report)),
  }));
  const hasError = suites.some(({ cases }) =>
    cases.some(({ outcome }) => outcome?.kind === 'error'),
  );
  const runCases = [...staleCases(report), ...(hasError ? [] : notJudgedCases(report))];
  const runSuite = { name: 'run', timestamp: report.startedAt, cases: runCases };
  return junitXml(commandOf({ requirements }), [
    ...(runCases.length > 0 ? [runSuite] : []),
    ...suites,
  ]);
}

const RUN_CLASS = 'sandbox-kit.run';

const staleCases = ({ staleKnownFailures = [] }: Partial<CheckReport>): TestCase[] =>
  staleKnownFailures.map((id) => ({
    classname: RUN_CLASS,
    name: `known failure ${id}`,
    outcome: { kind: 'failure', message: staleSentence([id]) },
  }));

function notJudgedCases({
  verdict,
  blockedBy,
}: Pick<CheckReport, 'verdict' | 'blockedBy'>): TestCase[] {
  if (verdict !== 'not-judged') return [];
  const reason = blockedBy?.message ?? 'The run observed nothing that supports a verdict.';
  return [
    {
      classname: RUN_CLASS,
      name: 'judgment',
      outcome: {
        kind: 'error',
        message: `not judged: ${reason}`,
        ...traceText(blockedBy),
      },
    },
  ];
}

/** Returns the trace id of the exchange that shows a cause. */
function traceText(blockedBy: CheckReport['blockedBy']): { text?: string } {
  const traceId = blockedBy?.evidence[0]?.traceId;
  return traceId === undefined ? {} : { text: `trace id ${traceId}` };
}

function testCase(
  row: RequirementVerdict,
  { verdict: runVerdict, blockedBy }: Pick<CheckReport, 'verdict' | 'blockedBy'>,
): TestCase {
  const { id, area, rule, verdict, accepted, addedLater, expected = '', received = '' } = row;
  const base = { classname: `sandbox-kit.${area}`, name: `${id} ${rule}` };
  const reason = row.reason ?? verdict;
  if (accepted !== undefined) {
    return {
      ...base,
      outcome: { kind: 'skipped', message: `${verdict}, known failure: ${accepted}` },
    };
  }
  if (addedLater && /^(error|blocked)$/.test(verdict)) {
    return { ...base, outcome: { kind: 'skipped', message: `${verdict}: ${reason}` } };
  }
  switch (verdict) {
    case 'pass':
      return base;
    case 'fail': {
      const message = `expected ${expected}, received ${received}`;
      return { ...base, outcome: { kind: 'failure', message, text: describeFinding(row) } };
    }
    case 'warn':
    case 'note':
      return { ...base, output: describeFinding(row) };
    case 'error':
      return { ...base, outcome: { kind: 'error', message: reason } };
    case 'blocked': {
      const kind = runVerdict === 'not-judged' ? 'error' : 'skipped';
      const message = `blocked: ${reason}`;
      return { ...base, outcome: { kind, message, ...traceText(blockedBy) } };
    }
    case 'not_applicable':
    case 'not_observed':
    case 'not_selected':
      return { ...base, outcome: { kind: 'skipped', message: `${verdict}: ${reason}` } };
  }
}

function describeFinding(row: RequirementVerdict): string {
  const traceId = row.evidence[0]?.traceId;
  const exchanges = row.evidence.map(({ exchange }) => exchange).join(', ');
  return [
    `${row.verdict}: spec ${row.section}, statements ${row.statements.join(', ')}`,
    row.pointer ? `at ${row.pointer}` : '',
    `expected ${row.expected ?? ''}`,
    `received ${row.received ?? ''}`,
    row.hint ?? '',
    `exchanges ${exchanges}`,
    traceId === undefined ? '' : `trace id ${traceId}`,
    row.curl ?? '',
  ]
    .filter((line) => line !== '')
    .join('\n');
}
