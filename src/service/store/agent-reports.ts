import type { Selectable } from 'kysely';
import { isSameUrl } from '../../platform/base-url.ts';
import type { Connections, WriteTransaction } from './connections.ts';
import type { Tables } from './schema/tables.ts';
import type { Page } from './records.ts';

/** What a report about an agent describes. */
export type AgentReportKind = 'connection' | 'check' | 'load';

/** What lists show of a report about an agent. */
export interface AgentReportSummary {
  standing: 'pass' | 'fail' | 'warn';
  /** The verdict in a few words. */
  verdict: string;
  /** Counts or the reason, in a sentence or a list. */
  detail: string;
  /** What was tested, usually a URL. */
  target: string;
  /** ISO 8601 time at which the run ended. */
  endedAt: string;
  /** The version of the kit that wrote it. */
  kitVersion: string;
  /** The targets that a load test measured. */
  targets?: readonly MeasuredTarget[];
  /** Whether the run judged nothing; an earlier report that judged something then counts. */
  judgesNothing?: boolean;
  /** The version of the agent, as `GET /health` reported it. */
  agentVersion?: string;
  /** The connection of the agent that was tested; undefined for reports of earlier releases. */
  connection?: number;
  /** Whether the sandbox could not be reached, or did not let the run in. */
  isBlocked?: boolean;
  /** Whether a check judged voice. */
  judgesVoice?: boolean;
  /** Whether a connection check opened the voice WebSocket; undefined if it did not try. */
  hasVoice?: boolean;
}

/** A target of a load test with its measurement. */
export interface MeasuredTarget {
  statement: string;
  measured: number;
  verdict: string;
}

/** A report about an agent, without its content. */
export interface AgentReport {
  id: number;
  agentId: string;
  kind: AgentReportKind;
  /** When it was attached. */
  atMs: number;
  summary: AgentReportSummary;
}

/** The report of a kind that counts. */
export interface CountingReport extends AgentReport {
  /** A run of its kind that ended later, and judged nothing, or proved less about the same build. */
  attempt?: AgentReport;
}

/** A report about an agent to insert. */
export type NewAgentReport = Omit<AgentReport, 'id'> & { report: object };

/** An agent with the URL that its reports are to be about. */
export interface ReportedAgent {
  id: string;
  url: string;
}

/** Which reports of an agent are kept. */
export interface ReportLimits {
  agent: ReportedAgent;
  keep: number;
}

const COLUMNS = ['key', 'agent_id', 'kind', 'at_ms', 'summary'] as const;

type Row = Pick<Selectable<Tables['agent_reports']>, (typeof COLUMNS)[number]>;

/**
 * Creates the store of reports about agents. They are deleted with their agent. Lists read no report,
 * because reports are large.
 */
export function createAgentReportStore({ reader, read, writeAlone }: Connections) {
  const selectReports = (ownerId: string) =>
    reader(ownerId).selectFrom('agent_reports').where('owner_id', '=', ownerId);
  return {
    /**
     * Adds a report, deletes the oldest of its agent and kind beyond the number to keep, except the one that
     * counts, and returns its id.
     */
    add: (ownerId: string, report: NewAgentReport, limits: ReportLimits): Promise<number> =>
      writeAlone(ownerId, (db) => addReport(db, ownerId, report, limits)),
    /** Returns a page of the reports about an agent, newest first, and their number, from one snapshot. */
    list: (
      ownerId: string,
      agentId: string,
      { skip, limit }: Page,
    ): Promise<{ reports: AgentReport[]; total: number }> =>
      read(ownerId, async (db) => {
        const reports = db
          .selectFrom('agent_reports')
          .where('owner_id', '=', ownerId)
          .where('agent_id', '=', agentId);
        const { total } = await reports
          .select(({ fn }) => fn.countAll<number>().as('total'))
          .executeTakeFirstOrThrow();
        const rows = await reports
          .select(COLUMNS)
          .orderBy('key', 'desc')
          .limit(limit)
          .offset(skip)
          .execute();
        return { reports: rows.map(toReport), total };
      }),
    /**
     * Returns the report of each kind about each of these agents that counts: of those about its URL that
     * judged something, the one whose run ended last; of equal ones, the one that was attached last. A run
     * that proves nothing does not replace a pass of the same build. If there is
     * none, it is chosen from those that judged nothing, and if none is about its URL, from the others.
     */
    async listNewest(ownerId: string, agents: readonly ReportedAgent[]): Promise<CountingReport[]> {
      if (agents.length === 0) return [];
      const urlById = new Map(agents.map(({ id, url }) => [id, url]));
      const rows = await selectReports(ownerId)
        .where('agent_id', 'in', [...urlById.keys()])
        .select(COLUMNS)
        .orderBy('key', 'desc')
        .execute();
      const byKind = Map.groupBy(rows.map(toReport), ({ agentId, kind }) => `${kind} ${agentId}`);
      return [...byKind.values()].map((reports) =>
        findCounting(reports, urlById.get(reports[0]?.agentId ?? '') ?? ''),
      );
    },
    /** Returns the newest reports of a kind about an agent, newest first. */
    async listOfKind(
      ownerId: string,
      { agentId, kind }: Pick<AgentReport, 'agentId' | 'kind'>,
      limit: number,
    ): Promise<AgentReport[]> {
      const rows = await selectReports(ownerId)
        .where('agent_id', '=', agentId)
        .where('kind', '=', kind)
        .select(COLUMNS)
        .orderBy('key', 'desc')
        .limit(limit)
        .execute();
      return rows.map(toReport);
    },
    async find(
      ownerId: string,
      agentId: string,
      id: number,
    ): Promise<(AgentReport & { report: object }) | undefined> {
      const row = await selectReports(ownerId)
        .select([...COLUMNS, 'report'])
        .where('agent_id', '=', agentId)
        .where('key', '=', id)
        .executeTakeFirst();
      return row && { ...toReport(row), report: JSON.parse(row.report) as object };
    },
  };
}

/** Finds the report that counts among reports of one kind, which are sorted from new to old. */
function findCounting(reports: readonly AgentReport[], url: string): CountingReport {
  const ofUrl = reports.filter(({ summary: { target } }) => isSameUrl(target, url));
  const about = ofUrl.length === 0 ? reports : ofUrl;
  const judging = about.filter(({ summary }) => summary.judgesNothing !== true);
  const newest = findNewest(about);
  const counting = judging.length === 0 ? newest : findProof(judging);
  return counting === newest ? counting : { ...counting, attempt: newest };
}

/** Returns the newest report, or an earlier pass of the same build that the newest one does not decide. */
function findProof(judging: readonly AgentReport[]): AgentReport {
  const newest = findNewest(judging);
  const decisive = judging.filter(({ summary }) => summary.standing !== 'warn');
  // A connection that is no longer healthy must show.
  if (newest.kind === 'connection' || decisive.length === 0) return newest;
  const proof = findNewest(decisive);
  const isHidden = proof.summary.standing === 'pass' && isSameBuild(proof.summary, newest.summary);
  return isHidden ? proof : newest;
}

/** Whether two tested builds are the same as far as is known. */
const isSameBuild = (one: AgentReportSummary, other: AgentReportSummary): boolean =>
  isSameOrUnknown(one.agentVersion, other.agentVersion) &&
  isSameOrUnknown(one.connection, other.connection);

const isSameOrUnknown = <Value>(one: Value | undefined, other: Value | undefined): boolean =>
  one === undefined || other === undefined || one === other;

const findNewest = (reports: readonly AgentReport[]): AgentReport =>
  reports.reduce((newest, other) => (endMsOf(other) > endMsOf(newest) ? other : newest));

async function addReport(
  db: WriteTransaction,
  ownerId: string,
  { agentId, kind, atMs, summary, report }: NewAgentReport,
  { agent: { url }, keep }: ReportLimits,
): Promise<number> {
  const { key } = await db
    .insertInto('agent_reports')
    .values({
      owner_id: ownerId,
      agent_id: agentId,
      kind,
      at_ms: atMs,
      summary: JSON.stringify(summary),
      report: JSON.stringify(report),
    })
    .returning('key')
    .executeTakeFirstOrThrow();
  const rows = await db
    .selectFrom('agent_reports')
    .select(COLUMNS)
    .where('owner_id', '=', ownerId)
    .where('agent_id', '=', agentId)
    .where('kind', '=', kind)
    .orderBy('key', 'desc')
    .execute();
  if (rows.length <= keep) return key;
  const reports = rows.map(toReport);
  const counting = findCounting(reports, url);
  const tooMany = reports.slice(keep).filter(({ id }) => id !== counting.id);
  await db
    .deleteFrom('agent_reports')
    .where('owner_id', '=', ownerId)
    .where('key', 'in', [...tooMany.map(({ id }) => id), -1])
    .execute();
  return key;
}

function toReport({ key, agent_id: agentId, kind, at_ms: atMs, summary }: Row): AgentReport {
  return { id: key, agentId, kind, atMs, summary: JSON.parse(summary) as AgentReport['summary'] };
}

const endMsOf = ({ summary }: AgentReport): number => Date.parse(summary.endedAt);
