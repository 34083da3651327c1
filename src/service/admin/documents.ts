import type { FastifyInstance } from 'fastify';
import {
  findDocument,
  listDocuments,
  removeDocument,
  saveDocument,
  type DocumentStores,
} from '../operations/documents.ts';
import type { DocumentKind } from '../store/store.ts';
import type { RequestOwners } from './request-owners.ts';

interface DocumentRoutesOptions {
  owners: RequestOwners;
  store: DocumentStores;
}

type WithId = { Params: { id: string } };

/**
 * `/agents`, `/personas` and `/scenarios`: the parts of simulations. The API key of an agent's
 * sandbox is stored and never returned.
 */
export function addDocumentRoutes(app: FastifyInstance, options: DocumentRoutesOptions): void {
  for (const kind of ['agent', 'persona', 'scenario'] as const) addKindRoutes(app, options, kind);
}

/** Adds the routes that store, list, show and delete documents of one kind. */
function addKindRoutes(
  app: FastifyInstance,
  { owners, store }: DocumentRoutesOptions,
  kind: DocumentKind,
): void {
  const path = `${kind}s`;
  app.post(`/${path}`, async (request) =>
    saveDocument(store, await owners.findOrCreate(request), kind, request.body),
  );
  app.get(`/${path}`, async (request) => ({
    [path]: await listDocuments(store, await owners.find(request), kind),
  }));
  app.get<WithId>(`/${path}/:id`, async (request) =>
    findDocument(store, await owners.find(request), kind, request.params.id),
  );
  app.delete<WithId>(`/${path}/:id`, async (request) => {
    const { id } = request.params;
    await removeDocument(store, await owners.find(request), kind, id);
    return { deleted: id };
  });
}
