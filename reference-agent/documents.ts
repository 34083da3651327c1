import type { FastifyInstance } from 'fastify';
import { createAsyncApi, createOpenApi } from '../src/contract/index.ts';
import { rejectOtherMethods, sendPrettyJson } from '../src/http-kit/server.ts';
import type { Authentication } from './authentication.ts';
import { RequestError } from './errors.ts';

export interface DocumentOptions {
  authentication: Authentication;
  hasVoice: boolean;
  isSecure: boolean;
}

/**
 * Adds the documents of the agent's own interface: OpenAPI, and AsyncAPI if it takes calls. Like the
 * health check they need no key, because every copy of the kit contains them.
 */
export function addDocumentRoutes(app: FastifyInstance, options: DocumentOptions): void {
  const { authentication, hasVoice, isSecure } = options;
  app.addHook('onRequest', (request, _reply, done) => {
    authentication.checkOrigin(request);
    done();
  });
  app.get('/openapi.json', (_request, reply) =>
    sendPrettyJson(reply, createOpenApi('sandbox', { serverUrl: '/' })),
  );
  allowGet(app, '/openapi.json');
  if (!hasVoice) return;
  app.get('/asyncapi.json', ({ host }, reply) => {
    const isHost = /^[\w.:[\]-]+$/.test(host);
    return sendPrettyJson(reply, createAsyncApi({ isSecure, ...(isHost && { host }) }));
  });
  allowGet(app, '/asyncapi.json');
}

function allowGet(app: FastifyInstance, url: string): void {
  rejectOtherMethods(
    app,
    url,
    ['GET', 'HEAD'],
    (message, headers) => new RequestError('method_not_allowed', message, headers),
  );
}
