import type { FastifyRequest } from 'fastify';
import { HTML_TYPE, pageHeaders, prefersHtml } from '../../../http-kit/pages.ts';
import { readQuery } from '../../../http-kit/query.ts';
import { sendPrettyJson } from '../../../http-kit/server.ts';
import { reportReadiness } from '../../operations/readiness-report.ts';
import type { Pages } from '../frame/pages.ts';
import { loadReadiness, type AgentPageOptions } from './load-agent-page.ts';
import { renderBadge, renderReadinessPage } from './readiness-page.ts';

/** Adds the routes of an agent's readiness: a page, JSON, and a badge. */
export function addReadinessRoutes({ app, findViewer }: Pages, options: AgentPageOptions): void {
  const { clock } = options;
  const load = async (request: FastifyRequest<{ Params: { id: string } }>) => {
    const { ownerId } = await findViewer(request);
    const { readiness } = await loadReadiness(options, ownerId, request.params.id);
    return reportReadiness(options, ownerId, readiness);
  };
  app.get<{ Params: { id: string } }>('/agents/:id/readiness', async (request, reply) => {
    const report = await load(request);
    const format = readQuery(request).get('format');
    const isPage = format === null ? prefersHtml(request.headers.accept ?? '') : format === 'html';
    reply.headers(pageHeaders).header('vary', 'accept');
    if (!isPage) return sendPrettyJson(reply, report);
    // The page says itself which script it may run, so that it also does so as a file.
    reply.header('content-security-policy', "frame-ancestors 'none'");
    return reply.type(HTML_TYPE).send(renderReadinessPage(report, clock.nowMs()));
  });
  app.get<{ Params: { id: string } }>('/agents/:id/badge.svg', async (request, reply) => {
    const badge = renderBadge(await load(request));
    return reply.headers(pageHeaders).type('image/svg+xml').send(badge);
  });
}
