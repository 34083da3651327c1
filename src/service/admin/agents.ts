import type { FastifyInstance } from 'fastify';
import {
  attachReport,
  findReport,
  listReports,
  REPORTS_KEPT_MAX,
  toReportJson,
} from '../operations/agent-reports.ts';
import { checkConnection, type AgentDeps } from '../operations/agents.ts';
import type { RequestOwners } from './request-owners.ts';

type WithId = { Params: { id: string } };

/** `/agents/{id}/connection` and `/agents/{id}/reports`: what is known about an agent. */
export function addAgentRoutes(
  app: FastifyInstance,
  options: AgentDeps & { owners: RequestOwners },
): void {
  const { owners } = options;
  app.post<WithId>('/agents/:id/connection', async (request) =>
    checkConnection(options, await owners.find(request), request.params.id),
  );
  app.post<WithId>('/agents/:id/reports', async (request) => {
    const ownerId = await owners.find(request);
    const { report } = await attachReport(options, ownerId, request.params.id, request.body);
    return toReportJson(report);
  });
  app.get<WithId>('/agents/:id/reports', async (request) => {
    const page = { skip: 0, limit: REPORTS_KEPT_MAX };
    const ownerId = await owners.find(request);
    const { reports, total } = await listReports(options, ownerId, request.params.id, page);
    return { total, reports: reports.map(toReportJson) };
  });
  app.get<{ Params: { id: string; report: string } }>(
    '/agents/:id/reports/:report',
    async (request) => {
      const { id, report } = request.params;
      return toReportJson(await findReport(options, await owners.find(request), id, report));
    },
  );
}
