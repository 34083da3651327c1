import type { FastifyInstance } from 'fastify';
import { listSummaries, serviceRoutes } from '../../contract/index.ts';
import { HTML_TYPE, pageHeaders, prefersHtml } from '../../http-kit/pages.ts';
import { sendPrettyJson } from '../../http-kit/server.ts';
import { renderFrontPage } from '../../report-kit/front-page.ts';
import { html } from '../../report-kit/html.ts';
import type { Authentication } from '../domain/authentication.ts';
import { OPENAPI_PATH } from './openapi.ts';
import { renderServicePage } from './page-frame.ts';

export interface FrontPageOptions {
  authentication: Authentication;
  /** Lower-case name of the header that carries the API key. */
  apiKeyHeader: string;
}

const TITLE = 'sandbox-kit: the service';
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

/**
 * `GET /`: describes the service to someone who only has its URL, as JSON, or as a page if `Accept`
 * prefers HTML. On loopback every program on this machine may read it; elsewhere it needs an API key.
 */
export function addFrontPage(
  app: FastifyInstance,
  { authentication, apiKeyHeader }: FrontPageOptions,
): void {
  app.get('/', async ({ headers }, reply) => {
    await authentication.authenticateReader(headers);
    reply.headers(pageHeaders).header('vary', 'accept');
    if (prefersHtml(headers.accept ?? '')) {
      const access = html`Send an API key in the header <code>${apiKeyHeader}</code>.`;
      const page = { title: TITLE, about: ABOUT, access, ...LISTS };
      return reply.type(HTML_TYPE).send(renderServicePage(TITLE, renderFrontPage(page)));
    }
    return sendPrettyJson(reply, {
      service: 'sandbox-kit',
      about: ABOUT,
      key_header: apiKeyHeader,
      ...LISTS,
    });
  });
}
