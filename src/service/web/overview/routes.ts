import type { FastifyInstance } from 'fastify';
import { listSummaries, serviceRoutes } from '../../../contract/index.ts';
import { prefersHtml } from '../../../http-kit/pages.ts';
import { sendPrettyJson } from '../../../http-kit/server.ts';
import { html } from '../../../report-kit/html.ts';
import { findLiveEvals } from '../../domain/evals.ts';
import type { SessionKind } from '../../store/store.ts';
import { OPENAPI_PATH } from '../openapi.ts';
import { sendPage, servicePageHeaders } from '../frame/page-frame.ts';
import { OVERVIEW_LIVE_PATH, renderNews, renderOverviewPage, type News } from './overview-page.ts';
import type { PageOptions } from '../frame/viewer.ts';

const ABOUT =
  'The evaluation service of sandbox-kit. It receives traces of conversations, scores closed ' +
  'conversations, and returns the results.';

const LISTS = {
  /** In the order of their use (spec 4.1 to 4.4). */
  calls: listSummaries(serviceRoutes),
  contract: { [OPENAPI_PATH]: 'These routes as OpenAPI 3.1, for generators of clients' },
  control: {
    '/__admin': 'The routes of the control API',
    '/__admin/ingest-log': 'Why data is missing: what was dropped, ignored or rejected',
  },
  documents: [
    'docs/service.md in the package sandbox-kit',
    'sandbox-kit serve --help',
    'sandbox-kit schemas',
  ],
};

/** The runs of each kind in the charts. */
const RUNS_MAX = 30;
const LOG_ENTRIES_MAX = 200;

/**
 * `GET /`: describes the service to a program that only has its URL, as JSON, or shows the overview if
 * `Accept` prefers HTML. On loopback every program on this machine may read it; elsewhere it needs an
 * API key.
 */
export function addOverviewRoutes(app: FastifyInstance, options: PageOptions): void {
  const { store, authentication, apiKeyHeader, clock, findViewer, live, sdkSettings } = options;
  app.get(OVERVIEW_LIVE_PATH, async (request, reply) => {
    const { ownerId, context } = await findViewer(request);
    return live.send(request, reply, async () => {
      return renderNews(await loadNews(options, ownerId), context);
    });
  });
  app.get('/', async (request, reply) => {
    const { accept = '' } = request.headers;
    reply.headers(servicePageHeaders).header('vary', 'accept');
    if (!prefersHtml(accept)) {
      await authentication.authenticateReader(request.headers);
      return sendPrettyJson(reply, {
        service: 'sandbox-kit',
        about: ABOUT,
        key_header: apiKeyHeader,
        ...LISTS,
      });
    }
    const { ownerId, context } = await findViewer(request);
    const listRuns = (kind: SessionKind) =>
      store.runs.list({ ownerId, kind, skip: 0, limit: RUNS_MAX });
    const [news, { runs }, { runs: simulations }] = await Promise.all([
      loadNews(options, ownerId),
      listRuns('production'),
      listRuns('simulation'),
    ]);
    const access = html`Send an API key in the header <code>${apiKeyHeader}</code>.`;
    const about = { about: ABOUT, access, ...LISTS };
    const charts = { runs, simulations, nowMs: clock.nowMs() };
    const overview = { ...news, ...charts, apiKeyHeader, about, sdkSettings };
    return sendPage(reply, renderOverviewPage(overview, context));
  });
}

async function loadNews(
  { store, rejectedRequests }: Pick<PageOptions, 'store' | 'rejectedRequests'>,
  ownerId: string,
): Promise<News> {
  const [counts, log, liveEvals] = await Promise.all([
    store.overview.count(ownerId),
    store.ingestLog.list(ownerId, LOG_ENTRIES_MAX),
    findLiveEvals(store.evals, ownerId),
  ]);
  const rejections = rejectedRequests.find(ownerId);
  const fileChange = store.describeFileChange();
  return { counts, log, rejections, hasLiveEvals: liveEvals.evals.length > 0, fileChange };
}
