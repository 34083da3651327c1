import type { ExchangeFinding } from '../../conformance/index.ts';
import { isMessage, type CheckReport } from '../../src/contract/index.ts';
import { formatCount } from '../../src/report-kit/format.ts';
import { findDeviations, isExchange } from '../exchange.ts';
import { describeProblems, labelLines, rejectPromise, type Judgment } from './judgment.ts';

/**
 * Judges a report of `check` or `grade`, or one exchange as `validateExchange` takes it.
 *
 * @throws {TypeError} if the value is neither.
 */
export function judgeConformance(caller: string, value: unknown): Judgment {
  rejectPromise(caller, value);
  if (isExchange(value)) return judgeOneExchange(findDeviations(caller, value), value.request);
  if (isMessage('CheckReport', value)) return judgeReport(value);
  throw new TypeError(
    `${caller} takes a report of check(), or an exchange such as { request: { method, path, body }, response: { status, headers, body } }.`,
  );
}

function judgeReport(report: CheckReport): Judgment {
  const { verdict, target, blockedBy, requirements, staleKnownFailures = [] } = report;
  if (verdict === 'conforming') {
    return { pass: true, message: () => `Expected ${target} not to conform, but it does.` };
  }
  if (verdict === 'not-judged') {
    const cause = blockedBy
      ? `${blockedBy.message} ${blockedBy.cure}`
      : 'No requirement could be judged. The report says why.';
    return { pass: false, message: () => `${target} could not be judged: ${cause}` };
  }
  const open = requirements.filter(({ accepted }) => accepted === undefined);
  const failed = open.filter((row) => row.verdict === 'fail');
  const stale = staleKnownFailures.map(
    (id) => `${id}  is a known failure that no longer fails. Remove it from the known failures.`,
  );
  const sentence = `Expected ${target} to conform, but ${describeCount(failed.length, stale.length)}.`;
  const [first] = report.causes;
  const fixFirst = first
    ? [`Fix first: ${first.description} (clears ${first.clears.length}).`]
    : [];
  return {
    pass: false,
    message: () =>
      describeProblems(sentence, [...fixFirst, ...failed.map(describeFailure), ...stale]),
  };
}

function describeCount(failed: number, stale: number): string {
  const requirements = `${formatCount(failed, 'requirement')} failed`;
  if (stale === 0) return requirements;
  const entries = `${formatCount(stale, 'known failure')} ${stale === 1 ? 'is' : 'are'} stale`;
  return failed === 0 ? entries : `${requirements} and ${entries}`;
}

function judgeOneExchange(
  findings: readonly ExchangeFinding[],
  { method, path }: { method: string; path: string },
): Judgment {
  const route = `${method} ${path.replace(/[?#].*$/s, '').slice(0, 200)}`;
  const failed = findings.filter(({ verdict }) => verdict === 'fail');
  if (failed.length === 0) {
    return { pass: true, message: () => `Expected ${route} not to conform, but it does.` };
  }
  const count = `${formatCount(failed.length, 'requirement')} failed`;
  const sentence = `Expected ${route} to conform, but ${count}.`;
  return { pass: false, message: () => describeProblems(sentence, failed.map(describeFailure)) };
}

/** The common fields of a failed requirement and a finding. */
interface Failure {
  id: string;
  rule: string;
  pointer?: string;
  expected?: string;
  received?: string;
  hint?: string;
  /** Only in a finding. */
  repair?: string;
  /** Only in a report. */
  curl?: string;
}

function describeFailure(failure: Failure): string {
  return [
    `${failure.id}  ${failure.rule}`,
    ...labelLines([
      ['at', failure.pointer],
      ['expected', failure.expected],
      ['received', failure.received],
      ['hint', failure.hint],
      ['repair', failure.repair],
      ['repeat', failure.curl],
    ]),
  ].join('\n');
}
