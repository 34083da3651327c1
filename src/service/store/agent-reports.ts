import type { Selectable } from 'kysely';
import type { Connections, WriteTransaction } from './connections.ts';
import type { Tables } from './schema/tables.ts';
import type { AgentReport, NewAgentReport, Page } from './records.ts';

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
    /** Adds a report, deletes the oldest of its agent and kind beyond the number to keep, and returns its id. */
    add: (ownerId: string, report: NewAgentReport, keep: number): Promise<number> =>
      writeAlone(ownerId, (db) => addReport(db, ownerId, report, keep)),
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
     * Returns the report of each kind about each of these agents whose run ended last; of equal ones, the
     * one that was attached last.
     */
    async listNewest(ownerId: string, agentIds: readonly string[]): Promise<AgentReport[]> {
      if (agentIds.length === 0) return [];
      const rows = await selectReports(ownerId)
        .where('agent_id', 'in', agentIds)
        .select(COLUMNS)
        .orderBy('key', 'desc')
        .execute();
      const byKind = Map.groupBy(rows.map(toReport), ({ agentId, kind }) => `${kind} ${agentId}`);
      return [...byKind.values()].map((reports) =>
        reports.reduce((newest, other) => (endMsOf(other) > endMsOf(newest) ? other : newest)),
      );
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

async function addReport(
  db: WriteTransaction,
  ownerId: string,
  { agentId, kind, atMs, summary, report }: NewAgentReport,
  keep: number,
): Promise<number> {
  const { key } = await db
    .insertInto('agent_reports')
    .values({
      ...{ owner_id: ownerId, agent_id: agentId, kind, at_ms: atMs },
      ...{ summary: JSON.stringify(summary), report: JSON.stringify(report) },
    })
    .returning('key')
    .executeTakeFirstOrThrow();
  const newestTooMany = await db
    .selectFrom('agent_reports')
    .select('key')
    .where('owner_id', '=', ownerId)
    .where('agent_id', '=', agentId)
    .where('kind', '=', kind)
    .orderBy('key', 'desc')
    .offset(keep)
    .limit(1)
    .executeTakeFirst();
  if (!newestTooMany) return key;
  await db
    .deleteFrom('agent_reports')
    .where('owner_id', '=', ownerId)
    .where('agent_id', '=', agentId)
    .where('kind', '=', kind)
    .where('key', '<=', newestTooMany.key)
    .execute();
  return key;
}

function toReport({ key, agent_id: agentId, kind, at_ms: atMs, summary }: Row): AgentReport {
  return { id: key, agentId, kind, atMs, summary: JSON.parse(summary) as AgentReport['summary'] };
}

const endMsOf = ({ summary }: AgentReport): number => Date.parse(summary.endedAt);
