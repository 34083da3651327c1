import type { FastifyInstance } from 'fastify';
import { html } from '../../report-kit/html.ts';
import type { Authentication } from '../app/authentication.ts';
import { sendForPeople } from '../app/wire.ts';
import { htmlType, pageHeaders, pageOf } from './page-frame.ts';

/** What the front page is made from. */
export interface FrontPageDeps {
  authentication: Authentication;
  /** Lower-case name of the header that holds the key. */
  apiKeyHeader: string;
}

const about =
  'The evaluation service of sandbox-kit: it takes traces of conversations in, scores what was ' +
  'closed, and gives back results.';

/** What clients call (spec 4.1 to 4.4), in the order in which one comes to it. */
const calls = {
  'POST /v1/traces': 'traces: OTLP over HTTP, JSON or protobuf, gzip or plain',
  'POST /v1/sessions/{conversation_id}/end': 'closes a conversation and queues its evals',
  'GET /api/prod-evaluations/sessions/': 'results of production conversations',
  'GET /api/simulations/sessions/': 'results of simulations',
};

const control = {
  '/__admin': 'the control API: its routes',
  '/__admin/ingest-log': 'why something does not appear',
};

const documents = [
  'docs/service.md in the package sandbox-kit',
  'sandbox-kit serve --help',
  'sandbox-kit schemas',
];

/**
 * `GET /`: what this is, for one who has its address and nothing else. JSON, or a page where Accept
 * likes HTML better. On loopback for anyone of this machine, elsewhere for holders of a key.
 */
export function frontPage(
  app: FastifyInstance,
  { authentication, apiKeyHeader }: FrontPageDeps,
): void {
  app.get('/', async ({ headers }, reply) => {
    await authentication.reader(headers);
    reply.headers(pageHeaders).header('vary', 'accept');
    if (prefersHtml(headers.accept ?? '')) return reply.type(htmlType).send(pageFor(apiKeyHeader));
    return sendForPeople(reply, {
      service: 'sandbox-kit',
      about,
      key_header: apiKeyHeader,
      calls,
      control,
      documents,
    });
  });
}

function pageFor(apiKeyHeader: string): string {
  return pageOf(
    'sandbox-kit: the service',
    html`<h1>sandbox-kit: the service</h1>
      <p>${about}</p>
      <h2>What clients call</h2>
      <p>Each with a key in <code>${apiKeyHeader}</code>.</p>
      <dl>
        ${Object.entries(calls).map(
          ([call, what]) =>
            html`<dt><code>${call}</code></dt>
              <dd>${what}</dd>`,
        )}
      </dl>
      <h2>What a test sets and sees</h2>
      <dl>
        ${Object.entries(control).map(
          ([path, what]) =>
            html`<dt><a href="${path}">${path}</a></dt>
              <dd>${what}</dd>`,
        )}
      </dl>
      <h2>Where it is written down</h2>
      <ul>
        ${documents.map((one) => html`<li>${one}</li>`)}
      </ul>`,
  );
}

/** Whether an Accept header (RFC 9110, section 12.5.1) likes HTML better than JSON. */
function prefersHtml(accept: string): boolean {
  const ranges = accept.split(',').map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    const quality = Number(weight ?? 1);
    return { type, quality: Number.isNaN(quality) ? 0 : quality };
  });
  // The more exact range decides.
  const qualityOf = (...names: string[]): number =>
    names.flatMap((name) => ranges.find(({ type }) => type === name) ?? [])[0]?.quality ?? 0;
  const json = qualityOf('application/json', 'application/*', '*/*');
  return qualityOf('text/html', 'text/*', '*/*') > json;
}
