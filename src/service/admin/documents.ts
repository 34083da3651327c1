import type { FastifyInstance } from 'fastify';
import {
  formatValue,
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

interface DocumentRoutesOptions {
  owners: Owners;
  store: Pick<Store, 'documents' | 'evals'>;
}

/** What an owner has stored. */
export interface KnownDocuments {
  evals: readonly EvalDefinition[];
  agents: readonly Pick<StoredAgent, 'id' | 'name'>[];
  personaIds: readonly string[];
  scenarioIds: readonly string[];
}

/** What a document may refer to. */
export interface DocumentContext {
  ownerId: string;
  known: KnownDocuments;
}

/** Maximum number of documents of a kind per owner. */
const DOCUMENTS_MAX = 1000;

const SCENARIO_CHARACTERS_MAX = 131_072;

type WithId = { Params: { id: string } };

/**
 * `/agents`, `/personas` and `/scenarios`: the parts of simulations. The API key of an agent's
 * sandbox is stored and never returned.
 */
export function addDocumentRoutes(app: FastifyInstance, options: DocumentRoutesOptions): void {
  addKindRoutes(app, options, {
    path: 'agents',
    kind: 'agent',
    read: (value, context) => toAgent(parseMessage('TestedAgent', value), context),
  });
  addKindRoutes(app, options, {
    path: 'personas',
    kind: 'persona',
    read: (value) => ({ kind: 'persona', document: parseMessage('Persona', value) }),
  });
  addKindRoutes(app, options, {
    path: 'scenarios',
    kind: 'scenario',
    read: (value, context) => toScenario(parseMessage('Scenario', value), context),
  });
}

interface KindRoutes {
  path: string;
  kind: DocumentKind;
  /** @throws RequestError `bad_request` for an invalid document. */
  read: (value: unknown, context: DocumentContext) => NewDocument;
}

/** Adds the routes that store, list, show and delete documents of one kind. */
function addKindRoutes(
  app: FastifyInstance,
  { owners, store }: DocumentRoutesOptions,
  { path, kind, read }: KindRoutes,
): void {
  const unknownDocument = (id: string): RequestError =>
    new RequestError('not_found', `There is no ${kind} ${formatValue(id)}.`);
  const list = (ownerId: string) => store.documents.list(ownerId, kind, DOCUMENTS_MAX);

  app.post(`/${path}`, async (request) => {
    const ownerId = await owners.findOrCreate(request);
    const known = await findKnownDocuments(store, ownerId);
    const added = read(request.body, { ownerId, known });
    checkCount(kind, [...(await list(ownerId)), added.document]);
    await store.documents.put(ownerId, added);
    return added.document;
  });
  app.get(`/${path}`, async (request) => ({ [path]: await list(await owners.find(request)) }));
  app.get<WithId>(`/${path}/:id`, async (request) => {
    const { id } = request.params;
    const documents = await list(await owners.find(request));
    const document = documents.find((candidate) => candidate.id === id);
    if (!document) throw unknownDocument(id);
    return document;
  });
  app.delete<WithId>(`/${path}/:id`, async (request) => {
    const { id } = request.params;
    const ownerId = await owners.find(request);
    if (!(await store.documents.remove(ownerId, kind, id))) throw unknownDocument(id);
    return { deleted: id };
  });
}

/** Returns what an owner has stored. */
export async function findKnownDocuments(
  store: DocumentRoutesOptions['store'],
  ownerId: string,
): Promise<KnownDocuments> {
  const [evals, agents, personas, scenarios] = await Promise.all([
    store.evals.list(ownerId),
    store.documents.list(ownerId, 'agent', DOCUMENTS_MAX),
    store.documents.list(ownerId, 'persona', DOCUMENTS_MAX),
    store.documents.list(ownerId, 'scenario', DOCUMENTS_MAX),
  ]);
  const personaIds = personas.map(({ id }) => id);
  return { evals, agents, personaIds, scenarioIds: scenarios.map(({ id }) => id) };
}

/** @throws RequestError `bad_request` when an owner would have too many documents of a kind. */
export function checkCount(kind: DocumentKind, all: readonly { id: string }[]): void {
  if (new Set(all.map(({ id }) => id)).size <= DOCUMENTS_MAX) return;
  const message = `At most ${DOCUMENTS_MAX} ${kind}s can be stored. Delete some.`;
  throw new RequestError('bad_request', message);
}

/** Returns an agent in its stored form. Without an id it replaces the agent of the same name. */
export function toAgent(agent: TestedAgent, context: DocumentContext): NewDocument {
  const { api_key: secret, name, url, voice_url } = agent;
  const knownId = context.known.agents.find((candidate) => candidate.name === name)?.id;
  const id = agent.id ?? knownId ?? makeDocumentId('agt', [context.ownerId, name]);
  const address = { url, ...(voice_url !== undefined && { voice_url }) };
  const document = { id, name, ...address, has_api_key: secret !== undefined };
  return { kind: 'agent', document, secret };
}

/**
 * Returns a scenario whose references all exist.
 * @param at JSON pointer to the scenario.
 * @throws InvalidDocumentError.
 */
export function toScenario(scenario: Scenario, { known }: DocumentContext, at = ''): NewDocument {
  const { length } = JSON.stringify(scenario);
  if (length > SCENARIO_CHARACTERS_MAX) {
    throw new InvalidDocumentError(
      at,
      `must have at most ${SCENARIO_CHARACTERS_MAX} characters of JSON, got ${length}`,
    );
  }
  const evalIds = known.evals.map(({ id }) => id);
  checkScenario(scenario, { evalIds, personaIds: known.personaIds }, at);
  return { kind: 'scenario', document: scenario };
}
