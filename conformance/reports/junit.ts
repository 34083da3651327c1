import type { CheckReport, RequirementVerdict } from '../../src/contract/index.ts';
import {
  junitXml,
  type Outcome,
  type TestCase,
  type TestSuite,
} from '../../src/report-kit/junit.ts';
import { describeCoverage, describeUnjudged } from './coverage.ts';
import { commandOf, messageBesides, openCauses, staleSentence } from './summary.ts';
import { resendCommandOf, type ResendFile } from './resend-commands.ts';

/**
 * Writes the report as JUnit XML, with a suite per area and a test case per requirement. A fail is a
 * `failure`, an error of the kit an `error`. A requirement that was not judged, or whose failure is known, is
 * `skipped` with its reason; areas that were not selected are left out. A run with a nonzero exit code has a
 * failure or an error, so that CI never shows it as green.
 */
export function junitReport(
  { requirements, ...report }: CheckReport,
  resendFile?: ResendFile,
  program?: string,
): string {
  const fixes = new Map(
    openCauses({ ...report, requirements }).flatMap((cause) =>
      cause.clears.map((id) => [id, `Fix first: ${describeCause(cause)}`] as const),
    ),
  );
  const run: RunResult = {
    ...report,
    resendCommand: (row) => resendCommandOf(row.evidence, report, resendFile, program),
  };
  const selected = requirements.filter(({ verdict }) => verdict !== 'not_selected');
  const suites = [...Map.groupBy(selected, ({ area }) => area)].map(([area, rows]): TestSuite => ({
    name: area,
    timestamp: report.startedAt,
    cases: rows.map((row) => testCase(row, run, fixes.get(row.id))),
  }));
  const hasError = suites.some(({ cases }) =>
    cases.some(({ outcome }) => outcome?.kind === 'error'),
  );
  const cases = [
    ...staleCases(report),
    ...(hasError ? [] : notJudgedCases(run)),
    ...coverageCases(report),
  ];
  const runSuites = cases.length > 0 ? [{ name: 'run', timestamp: report.startedAt, cases }] : [];
  return junitXml(commandOf({ requirements }), [...runSuites, ...suites]);
}

const RUN_CLASS = 'sandbox-kit.run';

const staleCases = ({ staleKnownFailures = [] }: Partial<CheckReport>): TestCase[] =>
  staleKnownFailures.map((id) => ({
    classname: RUN_CLASS,
    name: `known failure ${id}`,
    outcome: { kind: 'failure', message: staleSentence([id]) },
  }));

function notJudgedCases({ verdict, blockedBy }: RunResult): TestCase[] {
  if (verdict !== 'not-judged') return [];
  const reason = blockedBy?.message ?? 'The run observed nothing that supports a verdict.';
  const message = `not judged: ${reason}`;
  return [
    {
      classname: RUN_CLASS,
      name: 'judgment',
      outcome: { kind: 'error', message, text: describeTrace(blockedBy) },
    },
  ];
}

/** A case that passes and says what share was judged. */
function coverageCases({ coverage, blockedBy }: Partial<CheckReport>): TestCase[] {
  if (!coverage || blockedBy) return [];
  const output = describeUnjudged(coverage).map(({ text }) => text);
  return [
    {
      classname: RUN_CLASS,
      name: 'coverage',
      output: [describeCoverage(coverage), ...output].join('\n'),
    },
  ];
}

/** What a test case needs of the run. */
interface RunResult extends Pick<CheckReport, 'verdict' | 'blockedBy'> {
  /** Returns the command that sends the request of a finding again. */
  resendCommand: (row: RequirementVerdict) => string | undefined;
}

/** Returns the trace id of the exchange that shows a cause. */
function describeTrace(blockedBy: CheckReport['blockedBy']): string | undefined {
  const traceId = blockedBy?.evidence[0]?.traceId;
  return traceId === undefined ? undefined : `trace id ${traceId}`;
}

/** Describes a cause with the finding that shows it best. */
function describeCause({ description, example }: CheckReport['causes'][number]): string {
  if (!example) return `${description}.`;
  const { requirement, expected, received } = example;
  return `${description}. For example ${requirement}: expected ${expected}, received ${received}`;
}

function testCase(row: RequirementVerdict, run: RunResult, fix: string | undefined): TestCase {
  const outcome = outcomeOf(row, run, fix);
  const isRemark = outcome === undefined && row.verdict !== 'pass';
  return {
    classname: `sandbox-kit.${row.area}`,
    name: `${row.id} ${row.rule}`,
    outcome,
    output: isRemark ? describeFinding(row, run) : undefined,
  };
}

function outcomeOf(
  row: RequirementVerdict,
  run: RunResult,
  fix: string | undefined,
): Outcome | undefined {
  const { verdict, accepted, addedLater, reason = verdict, expected = '', received = '' } = row;
  const message = `${verdict}: ${[reason, row.remedy].filter(Boolean).join(' ')}`;
  if (accepted !== undefined) {
    return { kind: 'skipped', message: `${verdict}, known failure: ${accepted}` };
  }
  if (addedLater && /^(error|blocked)$/.test(verdict)) return { kind: 'skipped', message };
  switch (verdict) {
    case 'pass':
    case 'warn':
    case 'note':
      return undefined;
    case 'fail': {
      const difference = `expected ${expected}, received ${received}`;
      return { kind: 'failure', message: difference, text: describeFinding(row, run, fix) };
    }
    case 'error':
      return { kind: 'error', message: reason };
    case 'blocked': {
      const kind = run.verdict === 'not-judged' ? 'error' : 'skipped';
      return { kind, message, text: describeTrace(run.blockedBy) };
    }
    case 'not_applicable':
    case 'not_observed':
    case 'not_selected':
      return { kind: 'skipped', message };
  }
}

function describeFinding(row: RequirementVerdict, run: RunResult, fix = ''): string {
  const message = messageBesides(row);
  const traceId = row.evidence[0]?.traceId;
  const exchanges = row.evidence.map(({ exchange }) => exchange).join(', ');
  return [
    `${row.verdict}: spec ${row.section}, statements ${row.statements.join(', ')}`,
    row.pointer ? `at ${row.pointer}` : '',
    `expected ${row.expected ?? ''}`,
    `received ${row.received ?? ''}`,
    message === undefined ? '' : `message ${message}`,
    row.hint ?? '',
    fix,
    `exchanges ${exchanges}`,
    traceId === undefined ? '' : `trace id ${traceId}`,
    row.curl ?? '',
    run.resendCommand(row) ?? '',
  ]
    .filter((line) => line !== '')
    .join('\n');
}
