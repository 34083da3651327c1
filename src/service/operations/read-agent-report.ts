import {
  describeViolations,
  findViolations,
  type CheckReport,
  type LoadReport,
} from '../../contract/index.ts';
import { isSameUrl } from '../../platform/base-url.ts';
import { isObject } from '../../platform/json.ts';
import { formatList } from '../../report-kit/format.ts';
import { LOAD_STANDINGS } from '../../report-kit/load-standings.ts';
import { RequestError } from '../requests/errors.ts';
import type { AgentReportKind, AgentReportSummary } from '../store/store.ts';

/** A report that can be attached to an agent. */
export type AttachedReport = (
  { kind: 'check'; report: CheckReport } | { kind: 'load'; report: LoadReport }
) & { summary: AgentReportSummary };

/** Names a kind of report for people. */
export const reportKindNames: Readonly<Record<AgentReportKind, string>> = {
  connection: 'Connection',
  check: 'Conformance',
  load: 'Load',
};

/** Returns what a report says about the agent at a URL. A report about another URL proves nothing. */
export function summarizeFor(url: string, summary: AgentReportSummary): AgentReportSummary {
  const { target, verdict } = summary;
  if (isSameUrl(target, url)) return summary;
  const detail = `The report is about ${target}, not about the URL of this agent. It says: ${verdict}. ${summary.detail}`;
  return { ...summary, standing: 'warn', verdict: 'Report for another URL', detail };
}

/** The most targets of a load test that readiness shows. */
export const LOAD_TARGETS_MAX = 100;

const EXPECTED =
  'Attach the file that `sandbox-kit check --json FILE` or `sandbox-kit load --json FILE` wrote.';

/** Returns a value as a report of a check or a load test. @throws RequestError `bad_request`. */
export function readAgentReport(value: unknown): AttachedReport {
  if (!isObject(value)) throw rejection('This is not a report.');
  if ('requirements' in value && 'suite' in value) {
    checkReport('CheckReport', 'sandbox-kit check', value);
    const report = value as unknown as CheckReport;
    const foreign = report.requirements.find(({ area }) => ['service', 'client'].includes(area));
    if (foreign) {
      throw rejection(`This report judges a ${foreign.area}, not an agent.`);
    }
    return { kind: 'check', report, summary: summarizeCheck(report) };
  }
  if ('targets' in value && 'plan' in value) {
    checkReport('LoadReport', 'sandbox-kit load', value);
    const report = value as unknown as LoadReport;
    return { kind: 'load', report, summary: summarizeLoad(report) };
  }
  if ('sessions' in value && 'scenarios' in value) {
    throw rejection('This is a report of simulate. The sessions of simulations are shown anyway.');
  }
  throw rejection('This is JSON, but not a report of a check or a load test.');
}

const rejection = (problem: string): RequestError =>
  new RequestError('bad_request', `${problem} ${EXPECTED}`);

function checkReport(name: 'CheckReport' | 'LoadReport', command: string, value: object): void {
  const violations = findViolations(name, value);
  if (violations.length === 0) return;
  const problem = describeViolations(violations);
  throw rejection(
    `This looks like a report of \`${command}\`, but it is incomplete or from another version: ${problem}.`,
  );
}

const checkVerdicts = {
  conforming: ['pass', 'Conforming'],
  'not-conforming': ['fail', 'Not conforming'],
  'not-judged': ['warn', 'Not judged'],
} as const;

/** Whether the run left out a rule that every agent must obey. An agent need not have voice. */
const isOmitted = ({ area, level, verdict }: CheckReport['requirements'][number]): boolean =>
  verdict === 'not_selected' && level === 'must' && area !== 'voice';

function summarizeCheck(report: CheckReport): AgentReportSummary {
  const { verdict, blockedBy, counts, target, endedAt, kitVersion } = report;
  const isPartial = verdict === 'conforming' && report.requirements.some(isOmitted);
  const [standing, words] = isPartial
    ? (['warn', 'Conforming in part'] as const)
    : checkVerdicts[verdict];
  const detail = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${count} ${name.replaceAll('_', ' ')}`);
  return {
    standing,
    verdict: words,
    target,
    endedAt,
    kitVersion,
    detail: blockedBy?.message ?? formatList(detail),
    ...(report.agentVersion !== undefined && { agentVersion: report.agentVersion }),
    judgesVoice: report.requirements.some(
      ({ area, verdict: of }) => area === 'voice' && ['pass', 'fail', 'warn', 'note'].includes(of),
    ),
    ...(verdict === 'not-judged' && { judgesNothing: true }),
    ...(blockedBy && !NO_BLOCKS.includes(blockedBy.id) && { isBlocked: true }),
  };
}

/** Causes of an unjudged check that say nothing about the connection to a sandbox. */
const NO_BLOCKS = ['interrupted', 'no_voice'];

function summarizeLoad(report: LoadReport): AgentReportSummary {
  const { verdict, sentence, sandbox: target, endedAt, kitVersion } = report;
  const standing = LOAD_STANDINGS[verdict];
  return {
    standing,
    verdict: sentenceCase(verdict),
    detail: sentence,
    target,
    endedAt,
    kitVersion,
    ...(report.agentVersion !== undefined && { agentVersion: report.agentVersion }),
    ...(['INVALID RUN', 'NOT TESTED'].includes(verdict) && { judgesNothing: true }),
    ...(report.blockedBy && { isBlocked: true }),
    targets: report.targets
      .slice(0, LOAD_TARGETS_MAX)
      .flatMap(({ statement, measured, verdict: ofTarget }) =>
        measured === null ? [] : [{ statement, measured, verdict: ofTarget }],
      ),
  };
}

/** Writes a verdict in capitals as the first words of a sentence: "Not proven". */
const sentenceCase = (verdict: string): string =>
  `${verdict.slice(0, 1)}${verdict.slice(1).toLowerCase()}`;
