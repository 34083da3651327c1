import type { FastifyRequest } from 'fastify';
import { HTML_TYPE, pageHeaders, prefersHtml } from '../../../http-kit/pages.ts';
import { readQuery } from '../../../http-kit/query.ts';
import { sendPrettyJson } from '../../../http-kit/server.ts';
import { reportReadiness } from '../../operations/readiness-report.ts';
import { linkTo } from '../frame/page-frame.ts';
import type { Pages } from '../frame/pages.ts';
import { loadReadiness, type AgentPageOptions } from './load-agent-page.ts';
import { renderBadge, renderReadinessPage } from './readiness-page.ts';

/** Adds the routes of an agent's readiness: a page, JSON, and a badge. */
export function addReadinessRoutes({ app, findViewer }: Pages, options: AgentPageOptions): void {
  const { clock } = options;
  const load = async (request: FastifyRequest<{ Params: { id: string } }>) => {
    const { ownerId, context } = await findViewer(request);
    const { readiness } = await loadReadiness(options, ownerId, request.params.id);
    return { report: await reportReadiness(options, ownerId, readiness), context };
  };
  app.get<{ Params: { id: string } }>('/agents/:id/readiness', async (request, reply) => {
    const { report, context } = await load(request);
    const format = readQuery(request).get('format');
    const isPage = format === null ? prefersHtml(request.headers.accept ?? '') : format === 'html';
    reply.headers(pageHeaders).header('vary', 'accept');
    if (!isPage) return sendPrettyJson(reply, report);
    // The page says itself which script it may run, so that it also does so as a file.
    reply.header('content-security-policy', "frame-ancestors 'none'");
    const agentPage =
      format === 'html' ? undefined : linkTo(context, `/agents/${request.params.id}`);
    const page = renderReadinessPage(report, { nowMs: clock.nowMs(), agentPage });
    return reply.type(HTML_TYPE).send(page);
  });
  app.get<{ Params: { id: string } }>('/agents/:id/badge.svg', async (request, reply) => {
    const badge = renderBadge((await load(request)).report);
    return reply.headers(pageHeaders).type('image/svg+xml').send(badge);
  });
}
