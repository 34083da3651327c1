import type { EvalDefinition } from '../../contract/index.ts';
import type { JobStore } from './queue.ts';
import type { DocumentStore, EvalStore, OwnerStore, SeedData } from './setup.ts';
import type { SimulationStore } from './simulations.ts';

export type { FinishedJob, Job, JobStore } from './queue.ts';
export type { DocumentStore, EvalStore, OwnerStore } from './setup.ts';

/**
 * What the service keeps, and the only way to it. No other room knows SQL. SQLite stands behind it
 * today; the calls are asynchronous so that a database server can stand there, too.
 *
 * Every call belongs to an owner: what one owner keeps, another can neither see nor change.
 */
export interface Store {
  readonly owners: OwnerStore;
  readonly conversations: ConversationStore;
  readonly sessions: SessionStore;
  readonly simulations: SimulationStore;
  readonly evals: EvalStore;
  readonly documents: DocumentStore;
  readonly jobs: JobStore;
  readonly ingestLog: IngestLogStore;
  /** Forgets everything of an owner but the owner and its keys. */
  deleteOwnerData(ownerId: string): Promise<void>;
  /**
   * Keeps all that a seed brings in one transaction. The place of a key that is another owner's, in
   * the list of keys: nothing is changed then. Undefined when all is kept.
   */
  insertSeedData(planting: SeedData): Promise<number | undefined>;
  close(): Promise<void>;
}

/** A span as ingest has read it, ready to be kept (spec 2.1). */
export interface NewSpan {
  conversationId: string;
  /** Lower-case hexadecimal. */
  traceId: string;
  spanId: string;
  parentSpanId: string | undefined;
  /** `gen_ai.operation.name`. */
  operation: string;
  name: string;
  startNs: bigint;
  endNs: bigint;
  /** Status ERROR; UNSET is what instrumentations send on success. */
  failed: boolean;
  /** JSON text of `gen_ai.input.messages`, as it came, be it well-formed or not. */
  inputMessages: string | undefined;
  outputMessages: string | undefined;
  /** All other `gen_ai.*` attributes, and the hints of ours (`turns/evaluation-hints.ts`). */
  attributes: Readonly<Record<string, unknown>>;
}

/** A tag of a conversation: an attribute outside `gen_ai.*`. */
export interface Tag {
  conversationId: string;
  key: string;
  value: string;
}

/** What one accepted trace request brings. */
export interface TraceRequestRows {
  ownerId: string;
  /** Server time; idleness is reckoned from it. */
  receivedAtMs: number;
  spans: readonly NewSpan[];
  tags: readonly Tag[];
  logEntries: readonly IngestLogEntry[];
}

/** What became of a request's spans. */
export interface InsertResult {
  inserted: number;
  /** Had been kept before; nothing changed. */
  repeated: number;
  /** Of those inserted: came after their conversation was closed; kept, not scored. */
  late: number;
}

/** A span as it is kept. */
export interface StoredSpan extends NewSpan {
  receivedAtMs: number;
  late: boolean;
}

/** A live-trace conversation (spec 3.1). */
export interface Conversation {
  conversationId: string;
  state: 'open' | 'closed';
  /** Start of its first span, nanoseconds since the Unix epoch. */
  firstStartNs: bigint;
  /** End of its last span. */
  lastEndNs: bigint;
  /** Server time at which its last span was received. */
  lastReceivedAtMs: number;
  closedAtMs: number | undefined;
  /** Name of the daily run that it joined when it was closed. */
  run: string | undefined;
  /** The session that scores it; undefined while it is unscored. */
  sessionId: string | undefined;
}

/** How to close a conversation. */
export interface CloseRequest {
  ownerId: string;
  conversationId: string;
  atMs: number;
  /** Given the UTC date of its first span, e.g. `2026-11-20`: the name of the daily run. */
  runName: (date: string) => string;
  /** The evals that score it, as they are now; deleted ones left out. */
  evals: readonly EvalDefinition[];
  /** A new id for the session, used when there is something to score. */
  sessionId: string;
  /** Closes only if its last span came before: one may come between `idleBefore` and closing. */
  idleBeforeMs?: number;
}

/** What closing came to. */
export interface CloseResult {
  run: string;
  evaluationsQueued: number;
  alreadyClosed: boolean;
}

export interface ConversationStore {
  find(ownerId: string, conversationId: string): Promise<Conversation | undefined>;
  listSpans(ownerId: string, conversationId: string): Promise<StoredSpan[]>;
  listTags(ownerId: string, conversationId: string): Promise<{ key: string; value: string }[]>;
  /**
   * Closes a conversation once: the state, the run, the session and its jobs in one transaction.
   * Undefined for an unknown conversation, and for one that is not idle when it has to be.
   */
  close(closing: CloseRequest): Promise<CloseResult | undefined>;
  /** Open conversations of all owners whose last span came before, oldest first. */
  listIdle(ms: number, limit: number): Promise<{ ownerId: string; conversationId: string }[]>;
  /**
   * Open conversations of all owners whose last span came later than now, by a clock that was moved
   * on, are taken to have received it now. How many there were.
   */
  capReceivedAt(nowMs: number): Promise<number>;
  /** Closed and never scored, oldest first. */
  listUnscored(ownerId: string, limit: number): Promise<string[]>;
  /**
   * Scores a closed conversation that was not scored: session and jobs in one transaction. Undefined
   * for any other; without evals it stays unscored.
   */
  queueScoring(
    closing: Omit<CloseRequest, 'runName'>,
  ): Promise<{ run: string; queued: number } | undefined>;
}

/** Whether a session comes from a simulation or from production. */
export type SessionKind = 'simulation' | 'production';

/** pending, running, evaluating, completed, failed, cancelled. */
export type SessionStatus =
  'pending' | 'running' | 'evaluating' | 'completed' | 'failed' | 'cancelled';

/** What an eval found; only pass and fail are evaluations on the wire. */
export interface Outcome {
  evalId: string;
  evalName: string;
  category: string;
  type: string;
  outcome: 'pass' | 'fail' | 'error';
  /** False: it never makes the session fail. */
  required: boolean;
  reasoning: string;
}

/** Free-form JSON that came with a session. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** A turn of a session that has no spans: uploaded, or simulated. */
export interface StoredTurn {
  sequence: number;
  userInput: string;
  userReason: string | undefined;
  agentResponse: string;
  /** What the sandbox hinted at (spec 2.8). */
  evaluationMetadata?: JsonObject | undefined;
  toolCalls?: { name: string; arguments: unknown; result: unknown }[];
  /** From the user's word to the end of the answer. */
  latencyMs?: number;
  failed?: boolean;
}

/** A session with its outcomes (spec 2.4, 2.5). */
export interface Session {
  id: string;
  kind: SessionKind;
  ownerId: string;
  status: SessionStatus;
  startedAtMs: number;
  endedAtMs: number;
  /** Production: id and name of the run, and the caller's own id of the conversation. */
  run: { id: string; name: string } | undefined;
  sourceSessionId: string | undefined;
  /** Simulation: id and name; deleted ones keep their name, and lose their page. */
  simulation: { id: string; name: string; deleted: boolean } | undefined;
  agent: { name: string; url: string } | undefined;
  scenario: string | undefined;
  persona: string | undefined;
  endReason: string | undefined;
  /** What it was handed in with; sessions of live traces have tags instead. */
  metadata?: JsonObject | undefined;
  /** How a simulated user held it: channel, sample, review and the like. */
  simulated?: JsonObject | undefined;
  outcomes: Outcome[];
}

/** Which sessions to list (spec 4.3, 4.4). Names are matched as substrings, whatever the case. */
export interface SessionFilter {
  ownerId: string;
  kind: SessionKind;
  agent?: string;
  run?: string;
  eval?: string;
  failedOnly: boolean;
  startedAfterMs?: number;
  startedBeforeMs?: number;
  skip: number;
  limit: number;
}

/** A session to be kept as it is: seeded, uploaded, or simulated. */
export interface NewSession extends Omit<Session, 'run' | 'outcomes'> {
  /** Name of the run that a production session joins. */
  runName: string | undefined;
  turns: readonly StoredTurn[];
  outcomes: readonly Outcome[];
  /** Evals that are to score it. */
  evals: readonly EvalDefinition[];
  /** Of a session of a seed: a digest of all that the seed says of it. */
  seedDigest?: string;
}

export interface SessionStore {
  /** A page, newest first, and how many match in all, from one read. */
  listPage(filter: SessionFilter): Promise<{ sessions: Session[]; total: number }>;
  find(ownerId: string, id: string): Promise<Session | undefined>;
  /** Newest first, of both kinds, with results or without. */
  listNewest(ownerId: string, limit: number): Promise<Session[]>;
  /** The turns that were handed in; empty for sessions of live traces. */
  listTurns(ownerId: string, id: string): Promise<StoredTurn[]>;
  /** Adds a session, with its jobs, in one transaction. A known id is replaced. */
  add(session: NewSession): Promise<void>;
  /** Marks a simulation as deleted; its sessions stay. False when there is none, or none any more. */
  deleteSimulation(ownerId: string, simulationId: string): Promise<boolean>;
}

/** Something that ingest noticed, and what to do about it. */
export interface IngestLogEntry {
  level: 'info' | 'warn' | 'error';
  /** Stable, e.g. `no_conversation_id`. */
  code: string;
  message: string;
  /** What it is about: conversation, trace and span ids, counts. Never conversation text. */
  about: Readonly<Record<string, string | number>>;
}

export interface IngestLogStore {
  /** Adds notes; the oldest beyond the bound are forgotten. */
  add(ownerId: string, atMs: number, notes: readonly IngestLogEntry[]): Promise<void>;
  /** Newest first. */
  list(ownerId: string, limit: number): Promise<(IngestLogEntry & { atMs: number })[]>;
  /** The code of the newest note that tells of spans that were dropped, if there is one. */
  findNewestDropCode(ownerId: string): Promise<string | undefined>;
}
