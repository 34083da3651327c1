import type { MessageName, Messages } from '../../contract/index.ts';
import { InvalidDocumentError, RequestError } from '../requests/errors.ts';
import type { Documents } from '../store/store.ts';
import {
  findDocument,
  listDocumentIds,
  listDocuments,
  saveDocument,
  type DocumentStores,
} from './documents.ts';
import { saveEval } from './evals.ts';
import type { KitFunctions, Starters, TextPlace } from './kit-functions.ts';

/** The documents that are edited as text. */
export type TextKind = 'scenario' | 'persona';

/** The problem with a text, and where. */
export interface TextProblem {
  /** A sentence. */
  message: string;
  place: TextPlace;
}

/** The most characters of the text of a document. */
const TEXT_CHARACTERS_MAX = 300_000;

const MESSAGES = { scenario: 'Scenario', persona: 'Persona' } as const;

/**
 * Saves a document that was typed as YAML or JSON, or returns what is wrong with the text.
 * @param id The id that the document must have; undefined for a new document.
 */
export async function saveText<Kind extends TextKind>(
  { store, kit }: { store: DocumentStores; kit: KitFunctions },
  ownerId: string,
  kind: Kind,
  text: string,
  id: string | undefined,
): Promise<{ document: Documents[Kind] } | { problem: TextProblem }> {
  const start = { line: 1, column: 1 };
  if (text.length > TEXT_CHARACTERS_MAX) {
    const message = `The text must have at most ${TEXT_CHARACTERS_MAX} characters.`;
    return { problem: { message, place: start } };
  }
  const read = await kit.readDocument<MessageName>(text, MESSAGES[kind]);
  if (read.problem !== undefined) return { problem: { message: read.problem, place: read.place } };
  const value = read.value as Messages[(typeof MESSAGES)[Kind]];
  const atId = (message: string) => ({ problem: { message, place: read.locate('/id') } });
  if (id !== undefined && value.id !== id) {
    return atId(
      `The id must stay ${id}. To get a scenario or persona with another id, duplicate it.`,
    );
  }
  if (id === undefined && (await store.documents.find(ownerId, kind, value.id))) {
    return atId(`A ${kind} with the id ${value.id} already exists. Choose another id.`);
  }
  try {
    return { document: await saveDocument(store, ownerId, kind, value) };
  } catch (error) {
    if (error instanceof InvalidDocumentError) {
      return { problem: { message: error.message, place: read.locate(error.pointer) } };
    }
    if (!(error instanceof RequestError) || error.code !== 'bad_request') throw error;
    return { problem: { message: error.message, place: start } };
  }
}

/** Saves a copy of a document under a free id, and returns it. @throws RequestError. */
export async function duplicateDocument<Kind extends TextKind>(
  store: DocumentStores,
  ownerId: string,
  kind: Kind,
  id: string,
): Promise<Documents[Kind]> {
  const document: Documents[TextKind] = await findDocument(store, ownerId, kind, id);
  const ids = new Set(await listDocumentIds(store, ownerId, kind));
  const base = id.slice(0, 118);
  let copyId = `${base}-copy`;
  for (let nth = 2; ids.has(copyId); nth += 1) copyId = `${base}-copy-${nth}`;
  const name = `Copy of ${document.name}`.slice(0, 200);
  return saveDocument(store, ownerId, kind, { ...document, id: copyId, name });
}

/**
 * Stores starter scenarios with their personas and evals. Documents that exist already stay as they are.
 * @param id The starter to store; undefined for all of them.
 * @returns The ids of the scenarios. @throws RequestError `not_found`.
 */
export async function addStarters(
  store: DocumentStores,
  ownerId: string,
  { scenarios, personas, evals }: Starters,
  id: string | undefined,
): Promise<string[]> {
  const chosen = scenarios.filter((scenario) => id === undefined || scenario.id === id);
  if (chosen.length === 0)
    throw new RequestError('not_found', 'This starter scenario does not exist.');
  const [knownEvals, knownPersonas, knownScenarios] = await Promise.all([
    store.evals.list(ownerId),
    listDocuments(store, ownerId, 'persona'),
    listDocuments(store, ownerId, 'scenario'),
  ]);
  const isNew = (known: readonly { id: string }[], newId: string): boolean =>
    known.every((document) => document.id !== newId);
  const evalIds = chosen.flatMap(({ evals: listed = [] }) => listed);
  for (const definition of evals) {
    if (evalIds.includes(definition.id) && isNew(knownEvals, definition.id)) {
      await saveEval(store.evals, ownerId, definition);
    }
  }
  const personaIds = chosen.map(({ persona }) => persona);
  for (const persona of personas) {
    if (personaIds.includes(persona.id) && isNew(knownPersonas, persona.id)) {
      await saveDocument(store, ownerId, 'persona', persona);
    }
  }
  for (const scenario of chosen) {
    if (isNew(knownScenarios, scenario.id)) {
      await saveDocument(store, ownerId, 'scenario', scenario);
    }
  }
  return chosen.map((scenario) => scenario.id);
}
