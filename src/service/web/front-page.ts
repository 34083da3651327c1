import type { FastifyInstance } from 'fastify';
import { serviceRoutes } from '../../contract/index.ts';
import { html, type Html } from '../../report-kit/html.ts';
import { sendPrettyJson } from '../../http-kit/server.ts';
import type { Authentication } from '../domain/authentication.ts';
import { OPENAPI_PATH } from './openapi.ts';
import { HTML_TYPE, pageHeaders, renderServicePage } from './page-frame.ts';

export interface FrontPageOptions {
  authentication: Authentication;
  /** Lower-case name of the header that carries the API key. */
  apiKeyHeader: string;
}

const ABOUT =
  'The evaluation service of sandbox-kit. It receives traces of conversations, scores closed ' +
  'conversations, and returns the results.';

/** The routes for clients (spec 4.1 to 4.4), in the order of their use. */
const CALLS = Object.fromEntries(
  Object.values(serviceRoutes).map(({ method, path, summary }) => [`${method} ${path}`, summary]),
);

const CONTRACT = { [OPENAPI_PATH]: 'These routes as OpenAPI 3.1, for generators of clients' };

const CONTROLS = {
  '/__admin': 'The routes of the control API',
  '/__admin/ingest-log': 'Why data is missing: what was dropped, ignored or rejected',
};

const DOCUMENTS = [
  'docs/service.md in the package sandbox-kit',
  'sandbox-kit serve --help',
  'sandbox-kit schemas',
];

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
    if (prefersHtml(headers.accept ?? ''))
      return reply.type(HTML_TYPE).send(renderFrontPage(apiKeyHeader));
    return sendPrettyJson(reply, {
      service: 'sandbox-kit',
      about: ABOUT,
      key_header: apiKeyHeader,
      calls: CALLS,
      contract: CONTRACT,
      control: CONTROLS,
      documents: DOCUMENTS,
    });
  });
}

function renderFrontPage(apiKeyHeader: string): string {
  return renderServicePage(
    'sandbox-kit: the service',
    html`<h1>sandbox-kit: the service</h1>
      <p>${ABOUT}</p>
      <h2>For clients</h2>
      <p>Send an API key in the header <code>${apiKeyHeader}</code>.</p>
      <dl>
        ${Object.entries(CALLS).map(
          ([call, purpose]) =>
            html`<dt><code>${call}</code></dt>
              <dd>${purpose}</dd>`,
        )}
        ${renderLinks(CONTRACT)}
      </dl>
      <h2>For tests</h2>
      <dl>${renderLinks(CONTROLS)}</dl>
      <h2>Documentation</h2>
      <ul>
        ${DOCUMENTS.map((document) => html`<li>${document}</li>`)}
      </ul>`,
  );
}

function renderLinks(purposes: Readonly<Record<string, string>>): Html[] {
  return Object.entries(purposes).map(
    ([path, purpose]) =>
      html`<dt><a href="${path}">${path}</a></dt>
        <dd>${purpose}</dd>`,
  );
}

/** Returns whether an Accept header (RFC 9110, section 12.5.1) prefers HTML to JSON. */
function prefersHtml(accept: string): boolean {
  const ranges = accept.split(',').map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    const quality = Number(weight ?? 1);
    return { type, quality: Number.isNaN(quality) ? 0 : quality };
  });
  // The most specific range applies.
  const qualityOf = (...names: string[]): number =>
    names.flatMap((name) => ranges.find(({ type }) => type === name) ?? [])[0]?.quality ?? 0;
  const json = qualityOf('application/json', 'application/*', '*/*');
  return qualityOf('text/html', 'text/*', '*/*') > json;
}
