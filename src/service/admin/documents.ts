import type { FastifyInstance } from 'fastify';
import {
  brief,
  type EvalDefinition,
  type Scenario,
  type TestedAgent,
} from '../../contract/index.ts';
import { InvalidDocumentError, RequestError } from '../domain/errors.ts';
import { makeDocumentId } from '../domain/ids.ts';
import type { Store } from '../store/store.ts';
import type { DocumentKind, StoredAgent, NewDocument } from '../store/store.ts';
import { parseMessage } from '../domain/document-checks.ts';
import type { Owners } from './owners.ts';
import { checkScenario } from '../domain/check-scenario.ts';

interface Deps {
  owners: Owners;
  store: Pick<Store, 'documents' | 'evals'>;
}

/** What an owner has by now. */
export interface Known {
  evals: readonly EvalDefinition[];
  agents: readonly Pick<StoredAgent, 'id' | 'name'>[];
  personaIds: readonly string[];
  scenarioIds: readonly string[];
}

/** What a document is read with. */
export interface DocumentContext {
  ownerId: string;
  /** What it may refer to. */
  known: Known;
}

/** How many documents of a kind an owner can have. */
export const documentsMax = 1000;

const charactersMax = 131_072;

/**
 * `/agents`, `/personas`, `/scenarios`: what simulations are made of. The key of an agent's sandbox
 * goes in and never comes out.
 */
export function documentRoutes(app: FastifyInstance, deps: Deps): void {
  shelfRoutes(app, deps, {
    path: 'agents',
    kind: 'agent',
    read: (value, context) => toAgent(parseMessage('TestedAgent', value), context),
  });
  shelfRoutes(app, deps, {
    path: 'personas',
    kind: 'persona',
    read: (value) => ({ kind: 'persona', document: parseMessage('Persona', value) }),
  });
  shelfRoutes(app, deps, {
    path: 'scenarios',
    kind: 'scenario',
    read: (value, context) => toScenario(parseMessage('Scenario', value), context),
  });
}

interface Shelf {
  path: string;
  kind: DocumentKind;
  read: (value: unknown, context: DocumentContext) => NewDocument;
}

function shelfRoutes(app: FastifyInstance, deps: Deps, { path, kind, read }: Shelf): void {
  const { owners, store } = deps;
  const none = (id: string): RequestError =>
    new RequestError('not_found', `there is no ${kind} ${brief(id)}`);
  const list = (ownerId: string) => store.documents.list(ownerId, kind, documentsMax);

  app.post(`/${path}`, async (request) => {
    const ownerId = await owners.findOrCreate(request);
    const added = read(request.body, { ownerId, known: await knownOf(store, ownerId) });
    checkRoom(kind, [...(await list(ownerId)), added.document]);
    await store.documents.put(ownerId, added);
    return added.document;
  });
  app.get(`/${path}`, async (request) => ({ [path]: await list(await owners.find(request)) }));
  app.get<{ Params: { id: string } }>(`/${path}/:id`, async (request) => {
    const { id } = request.params;
    const found = (await list(await owners.find(request))).find((one) => one.id === id);
    if (!found) throw none(id);
    return found;
  });
  app.delete<{ Params: { id: string } }>(`/${path}/:id`, async (request) => {
    const { id } = request.params;
    if (!(await store.documents.remove(await owners.find(request), kind, id))) throw none(id);
    return { deleted: id };
  });
}

/** What an owner has. */
export async function knownOf(store: Deps['store'], ownerId: string): Promise<Known> {
  const [evals, agents, personas, scenarios] = await Promise.all([
    store.evals.list(ownerId),
    store.documents.list(ownerId, 'agent', documentsMax),
    store.documents.list(ownerId, 'persona', documentsMax),
    store.documents.list(ownerId, 'scenario', documentsMax),
  ]);
  const personaIds = personas.map(({ id }) => id);
  return { evals, agents, personaIds, scenarioIds: scenarios.map(({ id }) => id) };
}

/** @throws RequestError `bad_request` when an owner would have more of a kind than can be kept. */
export function checkRoom(kind: DocumentKind, all: readonly { id: string }[]): void {
  if (new Set(all.map(({ id }) => id)).size <= documentsMax) return;
  throw new RequestError(
    'bad_request',
    `there can be at most ${documentsMax} ${kind}s; delete some`,
  );
}

/** An agent as it is kept; one without an id is the one that has its name. */
export function toAgent(agent: TestedAgent, context: DocumentContext): NewDocument {
  const { api_key: secret, name, url, voice_url } = agent;
  const known = context.known.agents.find((one) => one.name === name)?.id;
  const id = agent.id ?? known ?? makeDocumentId('agt', [context.ownerId, name]);
  const place = { url, ...(voice_url !== undefined && { voice_url }) };
  const document = { id, name, ...place, has_api_key: secret !== undefined };
  return { kind: 'agent', document, secret };
}

/**
 * A scenario whose persona and evals are known, and whose steps lead somewhere. `at` is the pointer
 * to where it stands. @throws InvalidDocumentError.
 */
export function toScenario(scenario: Scenario, { known }: DocumentContext, at = ''): NewDocument {
  const { length } = JSON.stringify(scenario);
  if (length > charactersMax) {
    throw new InvalidDocumentError(
      at,
      `must be at most ${charactersMax} characters of JSON, got ${length}`,
    );
  }
  const evalIds = known.evals.map(({ id }) => id);
  checkScenario(scenario, { evalIds, personaIds: known.personaIds }, at);
  return { kind: 'scenario', document: scenario };
}
