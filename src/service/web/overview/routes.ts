import { listSummaries, serviceRoutes } from '../../../contract/index.ts';
import { prefersHtml } from '../../../http-kit/pages.ts';
import { sendPrettyJson } from '../../../http-kit/server.ts';
import type { Clock } from '../../../platform/clock.ts';
import { html } from '../../../report-kit/html.ts';
import { findReadiness } from '../../operations/agent-readiness.ts';
import { listDocuments } from '../../operations/documents.ts';
import type { ReadinessDeps } from '../../operations/readiness-part.ts';
import type { SessionKind, Store } from '../../store/store.ts';
import { OPENAPI_PATH } from '../openapi.ts';
import { timeRuns } from '../runs/time-runs.ts';
import { sendPage, servicePageHeaders } from '../frame/page-frame.ts';
import { goTo, type Pages } from '../frame/pages.ts';
import { EXPORTERS_PATH, renderExportersPage, type Exporters } from './exporters.ts';
import { loadNews, type NewsSources } from './load-news.ts';
import {
  DISMISS_PATH,
  OVERVIEW_LIVE_PATH,
  RESTORE_PATH,
  renderNews,
  renderOverviewPage,
  type Overview,
} from './overview-page.ts';

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
/** The agents whose readiness is shown. */
const AGENTS_MAX = 5;

/** What the overview shows, and whom it answers. */
export interface OverviewOptions extends NewsSources, Omit<Exporters, 'log'> {
  store: NewsSources['store'] & ReadinessDeps['store'] & Pick<Store, 'documents'>;
  simulations: ReadinessDeps['simulations'];
  /** The service clock. */
  clock: Clock;
}

/**
 * `GET /`: describes the service to a program that only has its URL, as JSON, or shows the overview if
 * `Accept` prefers HTML. On loopback every program on this machine may read it; elsewhere it needs an
 * API key.
 */
export function addOverviewRoutes(
  { app, page, form, live, findReader, findViewer }: Pages,
  options: OverviewOptions,
): void {
  const { apiKeyHeader, clock, store } = options;
  form(DISMISS_PATH, async ({ ownerId, context }) => {
    await store.settings.dismissProblems(ownerId, clock.nowMs());
    return goTo(context, '/');
  });
  form(RESTORE_PATH, async ({ ownerId, context }) => {
    await store.settings.dismissProblems(ownerId, 0);
    return goTo(context, '/');
  });
  live(OVERVIEW_LIVE_PATH, ({ ownerId, context }) => async () => {
    return renderNews(await loadNews(options, ownerId), context);
  });
  page(EXPORTERS_PATH, async ({ ownerId, context }) => {
    const { log } = await loadNews(options, ownerId);
    return renderExportersPage({ ...options, log }, context);
  });
  app.get('/', async (request, reply) => {
    const { accept = '' } = request.headers;
    reply.headers(servicePageHeaders).header('vary', 'accept');
    if (!prefersHtml(accept)) {
      await findReader(request);
      return sendPrettyJson(reply, {
        service: 'sandbox-kit',
        about: ABOUT,
        key_header: apiKeyHeader,
        ...LISTS,
      });
    }
    const { ownerId, context } = await findViewer(request);
    return sendPage(reply, renderOverviewPage(await loadOverview(options, ownerId), context));
  });
}

async function loadOverview(options: OverviewOptions, ownerId: string): Promise<Overview> {
  const { store, clock, apiKeyHeader, sdkSettings } = options;
  const listRuns = (kind: SessionKind) =>
    store.runs.list({ ownerId, kind, skip: 0, limit: RUNS_MAX });
  const agents = await listDocuments(store, ownerId, 'agent');
  const [news, shown, { runs }, { runs: simulations }] = await Promise.all([
    loadNews(options, ownerId),
    findReadiness(options, ownerId, agents.slice(0, AGENTS_MAX), 0),
    listRuns('production'),
    listRuns('simulation'),
  ]);
  const access = html`Send an API key in the header <code>${apiKeyHeader}</code>.`;
  return {
    ...news,
    agents: { shown, total: agents.length },
    runs,
    times: await timeRuns(store, { ownerId, kind: 'production' }, runs),
    simulations,
    nowMs: clock.nowMs(),
    apiKeyHeader,
    about: { about: ABOUT, access, ...LISTS },
    sdkSettings,
  };
}
