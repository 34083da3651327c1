import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  createAsyncApi,
  createOpenApi,
  listSummaries,
  sandboxRoutes,
} from '../src/contract/index.ts';
import { HTML_TYPE, pageHeaders, prefersHtml } from '../src/http-kit/pages.ts';
import { sendPrettyJson } from '../src/http-kit/server.ts';
import { FACT_LIST_CSS } from '../src/report-kit/fact-list.ts';
import { renderFrontPage } from '../src/report-kit/front-page.ts';
import { html } from '../src/report-kit/html.ts';
import { renderPage } from '../src/report-kit/page.ts';
import type { Authentication } from './authentication.ts';
import { allowOnly } from './server.ts';
import { VOICE_PATH } from './voice/upgrade.ts';

/** What the documents of an agent depend on. */
export interface DocumentOptions {
  authentication: Authentication;
  hasVoice: boolean;
  isSecure: boolean;
}

/**
 * Adds the documents of the agent's own interface: a front page, OpenAPI, and AsyncAPI if it takes
 * calls. Like the health check they need no key, because every copy of the kit contains them.
 */
export function addDocumentRoutes(app: FastifyInstance, options: DocumentOptions): void {
  const { authentication, hasVoice, isSecure } = options;
  app.addHook('onRequest', (request, _reply, done) => {
    authentication.checkOrigin(request);
    done();
  });
  addFrontPage(app, hasVoice);
  app.get('/openapi.json', (_request, reply) =>
    sendPrettyJson(reply, createOpenApi('sandbox', { serverUrl: '/' })),
  );
  allowOnly(app, '/openapi.json', ['GET', 'HEAD']);
  if (!hasVoice) return;
  app.get('/asyncapi.json', ({ host }, reply) => {
    const isHost = /^[\w.:[\]-]+$/.test(host);
    return sendPrettyJson(reply, createAsyncApi({ isSecure, ...(isHost && { host }) }));
  });
  allowOnly(app, '/asyncapi.json', ['GET', 'HEAD']);
}

const TITLE = 'sandbox-kit: the reference agent';
const ABOUT =
  'A sandbox that obeys the interface, for building clients and services. Its agent is the support agent ' +
  'of an imaginary shop: ask it for order A-1001.';

/** `GET /`: describes the agent as JSON, or as a page if `Accept` prefers HTML. */
function addFrontPage(app: FastifyInstance, hasVoice: boolean): void {
  const lists = {
    calls: {
      ...listSummaries(sandboxRoutes),
      ...(hasVoice && { [`WebSocket ${VOICE_PATH}`]: 'Take a call by WebRTC' }),
    },
    contract: {
      '/openapi.json': 'These routes as OpenAPI 3.1, for generators of clients',
      ...(hasVoice && { '/asyncapi.json': 'The messages of a call as AsyncAPI 3' }),
    },
    control: {
      '/__admin/requests': 'The requests that the agent received',
      '/__admin/faults': 'The faults that the agent injects',
      ...(hasVoice && { '/__admin/calls': 'The calls that the agent received' }),
    },
    documents: [
      'docs/agent.md in the package sandbox-kit',
      'sandbox-kit agent --help',
      'sandbox-kit schemas',
    ],
  };
  const access = html`An agent that was started with an API key expects it as
    <code>Authorization: Bearer KEY</code>.`;
  app.get('/', ({ headers }, reply) => {
    reply.headers(pageHeaders).header('vary', 'accept');
    if (!prefersHtml(headers.accept ?? '')) {
      return sendPrettyJson(reply, { agent: 'sandbox-kit', about: ABOUT, ...lists });
    }
    const body = html`<main>
      ${renderFrontPage({ title: TITLE, about: ABOUT, access, ...lists })}
    </main>`;
    return reply.type(HTML_TYPE).send(renderPage({ title: TITLE, css: FACT_LIST_CSS, body }));
  });
  allowOnly(app, '/', ['GET', 'HEAD']);
}

/** Returns whether a person opens the path in a browser. */
export const isPageRequest = ({ method, headers }: FastifyRequest): boolean =>
  method === 'GET' && prefersHtml(headers.accept ?? '');

/** Sends a page for a path that does not exist. It doesn't repeat the path, which may contain a key. */
export function sendUnknownPage(reply: FastifyReply): FastifyReply {
  const title = 'Page not found';
  const body = html`<main>
    <h1>${title}</h1>
    <p>The reference agent has no page at this address. <a href="/">See its routes.</a></p>
  </main>`;
  return reply
    .code(404)
    .headers({ ...pageHeaders, vary: 'accept' })
    .type(HTML_TYPE)
    .send(renderPage({ title, css: FACT_LIST_CSS, body }));
}
