import type { FastifyInstance } from 'fastify';
import { HTML_TYPE } from '../../../http-kit/pages.ts';
import { readListFilter } from '../frame/list-filter.ts';
import { servicePageHeaders } from '../frame/page-frame.ts';
import { readQuery, type PageOptions } from '../frame/viewer.ts';
import { renderRunsPage } from './runs-page.ts';

/** Adds the lists of production runs and of simulations. */
export function addRunRoutes(app: FastifyInstance, { store, findViewer }: PageOptions): void {
  app.get('/runs', async (request, reply) => {
    const { ownerId, context } = await findViewer(request);
    const query = readQuery(request);
    const { kind, skip, limit } = readListFilter(query, ownerId).filter;
    const found = await store.runs.list({ ownerId, kind, skip, limit });
    reply.headers(servicePageHeaders).type(HTML_TYPE);
    return reply.send(renderRunsPage({ kind, query, skip, limit, ...found }, context));
  });
}
