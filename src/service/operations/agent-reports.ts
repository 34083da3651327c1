import { formatValue } from '../../contract/index.ts';
import { isSameUrl } from '../../platform/base-url.ts';
import { isoTime, type Clock } from '../../platform/clock.ts';
import { RequestError } from '../requests/errors.ts';
import type { AgentReport, Page, Store } from '../store/store.ts';
import { findDocument } from './documents.ts';
import { readAgentReport, summarizeFor } from './read-agent-report.ts';

/** What the actions on reports need. */
interface ReportDeps {
  store: Pick<Store, 'documents' | 'agentReports'>;
  /** The service clock. */
  clock: Clock;
}

/** Maximum size of an attached report, in characters of JSON. */
export const REPORT_CHARACTERS_MAX = 4_194_304;

/** How many reports of each kind are kept for an agent. */
export const REPORTS_KEPT_MAX = 50;

/** Why an attached report does not count. */
type IgnoredReason = 'foreign' | 'outdated' | 'unjudged' | 'unproven';

/**
 * Attaches the JSON report of a check or a load test to an agent. The newest reports of each kind are
 * kept. It does not count if it is about another URL, if a run of its kind that ended later is known, or if it
 * judged nothing, or proved less, and another report of its kind did.
 * @param tested The connection that was tested (default: that of the agent now).
 * @throws RequestError `bad_request`, `too_large`, or `not_found`.
 */
export async function attachReport(
  { store, clock }: ReportDeps,
  ownerId: string,
  agentId: string,
  value: unknown,
  tested?: number,
): Promise<{ report: AgentReport; ignored: IgnoredReason | undefined }> {
  const agent = await findDocument(store, ownerId, 'agent', agentId);
  const { kind, report, summary } = readAgentReport(value);
  const { length } = JSON.stringify(report);
  if (length > REPORT_CHARACTERS_MAX) {
    const message = `A report must have at most ${REPORT_CHARACTERS_MAX} characters, got ${length}.`;
    throw new RequestError('too_large', message);
  }
  const connection = tested ?? agent.connection ?? 0;
  const added = { agentId, kind, summary: { ...summary, connection }, atMs: clock.nowMs() };
  const limits = { agent, keep: REPORTS_KEPT_MAX };
  const id = await store.agentReports.add(ownerId, { ...added, report }, limits);
  const counting = await store.agentReports.listNewest(ownerId, [agent]);
  const isNewest = counting.some((other) => other.id === id);
  const isAttempt = counting.some(({ attempt }) => attempt?.id === id);
  const isForeign = !isSameUrl(summary.target, agent.url);
  const attached = { id, ...added, summary: summarizeFor(agent.url, summary) };
  const late = summary.judgesNothing === true ? 'unjudged' : isAttempt ? 'unproven' : 'outdated';
  return { report: attached, ignored: isForeign ? 'foreign' : isNewest ? undefined : late };
}

/**
 * Returns a page of the reports about an agent, newest first, with what they say about its present URL.
 * @throws RequestError `not_found`.
 */
export async function listReports(
  { store }: Pick<ReportDeps, 'store'>,
  ownerId: string,
  agentId: string,
  page: Page,
): Promise<{ reports: AgentReport[]; total: number }> {
  const { url } = await findDocument(store, ownerId, 'agent', agentId);
  const { reports, total } = await store.agentReports.list(ownerId, agentId, page);
  const shown = reports.map((report) => ({
    ...report,
    summary: summarizeFor(url, report.summary),
  }));
  return { reports: shown, total };
}

/** Returns a report about an agent. @throws RequestError `not_found`. */
export async function findReport(
  { store }: Pick<ReportDeps, 'store'>,
  ownerId: string,
  agentId: string,
  id: string,
): Promise<AgentReport & { report: object }> {
  const found = /^\d{1,15}$/.test(id)
    ? await store.agentReports.find(ownerId, agentId, Number(id))
    : undefined;
  if (found) return found;
  throw new RequestError('not_found', `There is no report ${formatValue(id)} about this agent.`);
}

/** Returns a report for programs: its summary, and its content if there is one. */
export const toReportJson = ({ id, kind, atMs, summary, ...rest }: AgentReport): object => ({
  id,
  kind,
  attached_at: isoTime(atMs),
  standing: summary.standing,
  verdict: summary.verdict,
  detail: summary.detail,
  target: summary.target,
  ended_at: summary.endedAt,
  kit_version: summary.kitVersion,
  ...('report' in rest && { report: rest.report }),
});
