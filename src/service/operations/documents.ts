import {
  formatValue,
  type EvalDefinition,
  type Scenario,
  type TestedAgent,
} from '../../contract/index.ts';
import { findUrlProblem } from '../../platform/base-url.ts';
import { parseMessage } from '../requests/document-checks.ts';
import { InvalidDocumentError, RequestError } from '../requests/errors.ts';
import { checkScenario } from '../scenarios/check-scenario.ts';
import { makeDocumentId } from '../store/ids.ts';
import type { DocumentKind, Documents, NewDocument, Store, StoredAgent } from '../store/store.ts';

/** The stores that documents are checked against and written to. */
export type DocumentStores = Pick<Store, 'documents' | 'evals'>;

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

/** Maximum number of evals, and of documents of each kind, per owner. */
const DOCUMENTS_MAX = 1000;

const SCENARIO_CHARACTERS_MAX = 131_072;

/** PostgreSQL indexes the name of an agent and its URL together, in at most 2,704 bytes. */
const URL_BYTES_MAX = 1_500;

/** Lists the agents, personas, or scenarios of an owner in the order they were added. */
export function listDocuments<Kind extends DocumentKind>(
  { documents }: Pick<Store, 'documents'>,
  ownerId: string,
  kind: Kind,
): Promise<Documents[Kind][]> {
  return documents.list(ownerId, kind, DOCUMENTS_MAX);
}

/** Lists the ids of the documents that `listDocuments` returns. */
export function listDocumentIds(
  { documents }: Pick<Store, 'documents'>,
  ownerId: string,
  kind: DocumentKind,
): Promise<string[]> {
  return documents.listIds(ownerId, kind, DOCUMENTS_MAX);
}

/** Returns the document with an id. @throws RequestError `not_found`. */
export async function findDocument<Kind extends DocumentKind>(
  { documents }: Pick<Store, 'documents'>,
  ownerId: string,
  kind: Kind,
  id: string,
): Promise<Documents[Kind]> {
  const document = await documents.find(ownerId, kind, id);
  if (document) return document;
  throw unknownDocument(kind, id);
}

/**
 * Adds a document, or replaces the one with the same id, and returns it. The API key of an agent is
 * stored and never returned.
 * @throws RequestError `bad_request` for an invalid document.
 */
export async function saveDocument<Kind extends DocumentKind>(
  stores: DocumentStores,
  ownerId: string,
  kind: Kind,
  value: unknown,
): Promise<Documents[Kind]> {
  const known = await findKnownDocuments(stores, ownerId);
  const added = readDocument(kind, value, { ownerId, known });
  checkCount(kind, [...(await listDocuments(stores, ownerId, kind)), added.document]);
  if (added.kind === 'agent') await countChanges(stores, ownerId, added);
  await stores.documents.put(ownerId, added);
  return added.document as Documents[Kind];
}

/** Counts a changed address or key of an agent: evidence is about the connection that was tested. */
async function countChanges(
  { documents }: DocumentStores,
  ownerId: string,
  { document, secret }: Extract<NewDocument, { kind: 'agent' }>,
): Promise<void> {
  const before = await documents.find(ownerId, 'agent', document.id);
  if (!before) return;
  const isSame =
    before.url === document.url &&
    before.voice_url === document.voice_url &&
    (await documents.findApiKey(ownerId, document.id)) === secret;
  const connection = (before.connection ?? 0) + (isSame ? 0 : 1);
  if (connection > 0) document.connection = connection;
}

/** Deletes a document. @throws RequestError `not_found`. */
export async function removeDocument(
  { documents }: Pick<Store, 'documents'>,
  ownerId: string,
  kind: DocumentKind,
  id: string,
): Promise<void> {
  if (!(await documents.remove(ownerId, kind, id))) throw unknownDocument(kind, id);
}

const unknownDocument = (kind: DocumentKind, id: string): RequestError =>
  new RequestError('not_found', `There is no ${kind} ${formatValue(id)}.`);

/** Returns a value as a document to store. @throws RequestError `bad_request`. */
function readDocument(kind: DocumentKind, value: unknown, context: DocumentContext): NewDocument {
  if (kind === 'agent') return toAgent(parseMessage('TestedAgent', value), context);
  if (kind === 'persona') return { kind, document: parseMessage('Persona', value) };
  return toScenario(parseMessage('Scenario', value), context);
}

/** Returns what an owner has stored. */
export async function findKnownDocuments(
  store: DocumentStores,
  ownerId: string,
): Promise<KnownDocuments> {
  const [evals, agents, personaIds, scenarioIds] = await Promise.all([
    store.evals.list(ownerId),
    listDocuments(store, ownerId, 'agent'),
    listDocumentIds(store, ownerId, 'persona'),
    listDocumentIds(store, ownerId, 'scenario'),
  ]);
  return { evals, agents, personaIds, scenarioIds };
}

/** @throws RequestError `bad_request` when an owner would have too many evals, or documents of a kind. */
export function checkCount(kind: DocumentKind | 'eval', all: readonly { id: string }[]): void {
  if (new Set(all.map(({ id }) => id)).size <= DOCUMENTS_MAX) return;
  const message = `At most ${DOCUMENTS_MAX} ${kind}s can be stored. Delete some.`;
  throw new RequestError('bad_request', message);
}

/**
 * Checks that the URLs of an agent can be stored and called.
 * @param at JSON pointer to the agent.
 * @throws InvalidDocumentError.
 */
export function checkAgentUrls(agent: Pick<TestedAgent, 'url' | 'voice_url'>, at: string): void {
  for (const field of ['url', 'voice_url'] as const) {
    const url = agent[field];
    if (url === undefined) continue;
    const bytes = Buffer.byteLength(url);
    const problem =
      bytes > URL_BYTES_MAX
        ? `must have at most ${URL_BYTES_MAX} bytes in UTF-8, got ${bytes}`
        : findUrlProblem(url);
    if (problem !== undefined) throw new InvalidDocumentError(`${at}/${field}`, problem);
  }
}

/**
 * Returns an agent in its stored form. Without an id it replaces the agent of the same name.
 * @throws InvalidDocumentError if a URL can't be called.
 */
export function toAgent(agent: TestedAgent, context: DocumentContext, at = ''): NewDocument {
  checkAgentUrls(agent, at);
  const { api_key: secret, name, url, voice_url } = agent;
  const { agents } = context.known;
  const knownId = agents.find((candidate) => candidate.name === name)?.id;
  const id = agent.id ?? knownId ?? makeAgentId([context.ownerId, name], agents);
  const address = { url, ...(voice_url !== undefined && { voice_url }) };
  const document = { id, name, ...address, has_api_key: secret !== undefined };
  return { kind: 'agent', document, secret };
}

/** Makes the id of a new agent. An agent that had this name, and was renamed, has another one. */
function makeAgentId(parts: readonly string[], agents: KnownDocuments['agents']): string {
  const id = makeDocumentId('agt', parts);
  return agents.some((agent) => agent.id === id) ? makeAgentId([...parts, id], agents) : id;
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
