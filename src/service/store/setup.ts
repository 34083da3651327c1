import type { EvalDefinition, LiveSettings, Persona, Scenario } from '../../contract/index.ts';
import type { NewSession } from './store.ts';

// Owners and what they set up, beside what comes in and what is found.

/** Keys are kept as SHA-256 digests in lower-case hexadecimal; the key itself is never kept. */
export interface OwnerStore {
  /** Makes an owner, or finds the one of that name; the id. */
  ensure(name: string): Promise<string>;
  /** Safe to repeat. False when the key is another owner's: it stays so. */
  addKey(ownerId: string, keyDigest: string): Promise<boolean>;
  /**
   * Makes these the configured keys: the ones of an earlier start that are not among them are
   * removed. Keys that were added stay. False when one of them is another owner's; nothing is
   * changed then.
   */
  configureKeys(keys: readonly { ownerId: string; keyDigest: string }[]): Promise<boolean>;
  removeKey(ownerId: string, keyDigest: string): Promise<boolean>;
  /** The owner of a key, and the key's digest for a compare in constant time. */
  findByKey(keyDigest: string): Promise<{ ownerId: string; keyDigest: string } | undefined>;
  findId(name: string): Promise<string | undefined>;
  /** Ids of all owners. */
  listIds(): Promise<string[]>;
}

export interface EvalStore {
  /** Adds an eval, or replaces the one of that id. */
  put(ownerId: string, definition: EvalDefinition): Promise<void>;
  list(ownerId: string): Promise<EvalDefinition[]>;
  /** False when there is none. A deleted eval may still stand in the settings. */
  remove(ownerId: string, id: string): Promise<boolean>;
  getSettings(ownerId: string): Promise<Required<LiveSettings>>;
  /** Changes what is given. */
  updateSettings(ownerId: string, settings: LiveSettings): Promise<void>;
}

/** An agent that simulations test. Its key is kept apart, so that no list can show it. */
export interface StoredAgent {
  id: string;
  name: string;
  /** Base address of its sandbox. */
  url: string;
  /** Of its voice WebSocket; `/voice` of the url when left out. */
  voice_url?: string;
  has_api_key: boolean;
}

/** What simulations are made of, by kind. */
export interface Documents {
  agent: StoredAgent;
  persona: Persona;
  scenario: Scenario;
}

export type DocumentKind = keyof Documents;

/** A document to be kept. */
export type NewDocument =
  | { kind: 'agent'; document: StoredAgent; secret: string | undefined }
  | { kind: 'persona'; document: Persona }
  | { kind: 'scenario'; document: Scenario };

export interface DocumentStore {
  /** Adds a document, or replaces the one of that id, with its secret. */
  put(ownerId: string, added: NewDocument): Promise<void>;
  /** In the order in which they came, no more than `limit`. */
  list<Kind extends DocumentKind>(
    ownerId: string,
    kind: Kind,
    limit: number,
  ): Promise<Documents[Kind][]>;
  /** False when there is none. */
  remove(ownerId: string, kind: DocumentKind, id: string): Promise<boolean>;
  /** An agent's key to its sandbox; undefined without a key or an agent. For who calls it alone. */
  findApiKey(ownerId: string, agentId: string): Promise<string | undefined>;
}

/** All that a seed brings to an owner. */
export interface SeedData {
  ownerId: string;
  /** Whether everything that the owner has, but its keys, goes first. */
  replaceAll: boolean;
  /**
   * Keys and the names of those whose they are; undefined: the owner's. Without a key, the owner is
   * made alone.
   */
  keys: readonly { keyDigest: string | undefined; ownerName: string | undefined }[];
  evals: readonly EvalDefinition[];
  /** Changes what is given. */
  settings: LiveSettings;
  documents: readonly NewDocument[];
  /** One that is there with the same digest stays as it is, scored or not. */
  sessions: readonly NewSession[];
  /** Ids of simulations that are gone: their sessions stay. */
  deletedSimulations: readonly string[];
  /** Told now and then how many of the sessions are kept, and of how many. */
  onProgress?: OnSeedProgress | undefined;
}

/** Told how far a seed is: sessions that are kept, and how many there are. */
export type OnSeedProgress = (done: number, total: number) => void;
