import type { EvalDefinition, LiveSettings } from '../../contract/index.ts';
import type {
  AgentReport,
  CloseRequest,
  CloseResult,
  Conversation,
  DocumentKind,
  Documents,
  FinishedJob,
  IngestLogEntry,
  Job,
  NewAgentReport,
  Neighbors,
  NewDocument,
  NewKey,
  NewRecording,
  NewSession,
  NewSimulation,
  Outcome,
  OwnerCounts,
  Page,
  Recording,
  RunDetails,
  RunFilter,
  RunNeighbors,
  RunRef,
  RecentOutcomes,
  RunSummary,
  SimulationOfAgent,
  RunTraits,
  SeedData,
  Session,
  SessionFilter,
  SessionPage,
  SimulationPlan,
  SpanLink,
  StoredKey,
  StoredSpan,
  StoredTurn,
  WaitingConversation,
  Verdict,
} from './records.ts';
import type { ConnectionCounts } from './connections.ts';
import type { ConfiguredKey, ReplicaStore, SimulationLease } from './replicas.ts';

export type * from './records.ts';
export type * from './replicas.ts';

/**
 * The only access to persistent data; no other module contains SQL. SQLite implements it today. All
 * calls are asynchronous so that a database server can implement it, too.
 *
 * All data belongs to an owner. Calls with an `ownerId` neither read nor change data of others; only
 * background work (idle closing, scoring, resuming simulations) reads across owners.
 */
export interface Store {
  readonly owners: OwnerStore;
  readonly conversations: ConversationStore;
  readonly sessions: SessionStore;
  readonly simulations: SimulationStore;
  readonly evals: EvalStore;
  readonly documents: DocumentStore;
  readonly agentReports: AgentReportStore;
  readonly jobs: JobStore;
  readonly ingestLog: IngestLogStore;
  readonly overview: OverviewStore;
  readonly recordings: RecordingStore;
  readonly runs: RunStore;
  readonly retention: RetentionStore;
  /** The partitions of spans; undefined for a file, which has none. */
  readonly spanPartitions: SpanPartitions | undefined;
  /** What several processes on one database share; undefined for a file, which only one uses. */
  readonly replicas: ReplicaStore | undefined;
  /** Deletes all data of an owner except the owner itself and its keys. */
  deleteOwnerData(ownerId: string): Promise<void>;
  /**
   * Inserts seed data in one transaction. Returns undefined on success. If a key belongs to another
   * owner, changes nothing and returns the index of that key.
   */
  insertSeedData(seedData: SeedData): Promise<number | undefined>;
  /**
   * Returns the value with this name, which all processes that use the store share. Sets it to `value` if
   * it is missing. Values of a file last until the store is closed.
   */
  shareValue(name: string, value: string): Promise<string>;
  /** Describes what happened to the file since it was opened: emptied, replaced, or moved away. */
  describeFileChange(): string | undefined;
  /** Resolves if a database answers and accepts changes. Rejects after at most 2 s otherwise. */
  ping(): Promise<void>;
  /** Counts the connections to a database, and who waits for one; undefined for a file. */
  countConnections(): ConnectionCounts | undefined;
  close(): Promise<void>;
}

/** Stores keys as SHA-256 digests in lower-case hexadecimal, never the keys themselves. */
export interface OwnerStore {
  /** Returns the id of the owner with this name, creating the owner if necessary. */
  ensure(name: string): Promise<string>;
  /**
   * Adds a key; safe to repeat, which keeps what is stored with it. Returns false, and changes
   * nothing, if another owner has the key.
   */
  addKey(ownerId: string, keyDigest: string, about?: NewKey): Promise<boolean>;
  /**
   * Replaces the keys of the previous configuration with these; keys added by `addKey` stay. Only for
   * a store that no other process uses: replicas configure keys when they join.
   * @throws KeyTakenError if one of them belongs to another owner; nothing changes then.
   */
  configureKeys(keys: readonly ConfiguredKey[]): Promise<void>;
  removeKey(ownerId: string, keyDigest: string): Promise<boolean>;
  /** Lists the keys of an owner: those of the configuration first, then the newest first. */
  listKeys(ownerId: string, page: Page): Promise<{ keys: StoredKey[]; total: number }>;
  /** Finds a key of an owner by its id or its digest. */
  findKey(
    ownerId: string,
    key: { id: string } | { keyDigest: string },
  ): Promise<(StoredKey & { keyDigest: string }) | undefined>;
  /** Returns the owner of a key, and the stored digest for a constant-time comparison. */
  findByKey(keyDigest: string): Promise<{ ownerId: string; keyDigest: string } | undefined>;
  findId(name: string): Promise<string | undefined>;
  findName(id: string): Promise<string | undefined>;
  /** Returns the ids of all owners. */
  listIds(): Promise<string[]>;
}

export interface ConversationStore {
  find(ownerId: string, conversationId: string): Promise<Conversation | undefined>;
  listSpans(ownerId: string, conversationId: string): Promise<StoredSpan[]>;
  /** Lists the ignored spans in the traces of a conversation. */
  listLinks(ownerId: string, conversationId: string): Promise<SpanLink[]>;
  listTags(ownerId: string, conversationId: string): Promise<{ key: string; value: string }[]>;
  /**
   * Closes a conversation and, in the same transaction, adds it to its run and queues its scoring.
   * Concurrent calls close it once; later calls return `alreadyClosed`. Returns undefined for an
   * unknown conversation, and for one that received a span at or after `idleBeforeMs`.
   */
  close(request: CloseRequest): Promise<CloseResult | undefined>;
  /** Lists open conversations of all owners whose last span was received before `ms`, oldest first. */
  listIdle(ms: number, limit: number): Promise<{ ownerId: string; conversationId: string }[]>;
  /**
   * Sets receive times in the future to `nowMs`, for open conversations of all owners, and returns
   * how many there were. Future times come from an earlier process whose clock was advanced.
   */
  capReceivedAt(nowMs: number): Promise<number>;
  /** Lists open or unscored conversations, newest first, and the number of all of them. */
  listWaiting(
    ownerId: string,
    state: 'open' | 'unscored',
    page: Page,
  ): Promise<{ conversations: WaitingConversation[]; total: number }>;
  /** Lists conversations that were closed but never scored, oldest first. */
  listUnscored(ownerId: string, limit: number): Promise<string[]>;
  /**
   * Creates the session and the jobs of a closed, unscored conversation in one transaction. Returns
   * undefined for any other conversation. Without evals, the conversation stays unscored.
   */
  queueScoring(
    request: Omit<CloseRequest, 'runName'>,
  ): Promise<{ run: string; queued: number } | undefined>;
}

export interface SessionStore {
  /** Returns a page, newest first, and the number of all matches, both from one snapshot. */
  listPage(filter: SessionFilter): Promise<SessionPage>;
  /** Returns the sessions before and after a session in the list of a filter. */
  findNeighbors(filter: SessionFilter, sessionId: string): Promise<Neighbors>;
  find(ownerId: string, id: string): Promise<Session | undefined>;
  /** Lists sessions of both kinds, newest first, including those without results. */
  listNewest(ownerId: string, limit: number): Promise<Session[]>;
  /** Returns the stored turns; empty for sessions of live traces. */
  listTurns(ownerId: string, id: string): Promise<StoredTurn[]>;
  /**
   * Adds a session and its jobs in one transaction, replacing any session with the same id.
   * @param dueAtMs When the jobs are due (default: immediately).
   */
  add(session: NewSession, dueAtMs?: number): Promise<void>;
  /**
   * Adds sessions of one owner and their jobs in one transaction, replacing sessions with the same
   * ids. Returns how many it replaced.
   */
  addAll(sessions: readonly NewSession[], dueAtMs?: number): Promise<{ replaced: number }>;
  /** Marks a simulation as deleted; its sessions stay. Returns false if there is none to delete. */
  deleteSimulation(ownerId: string, simulationId: string): Promise<boolean>;
}

/** The recordings of simulated calls. They are deleted with their sessions. */
export interface RecordingStore {
  /** Adds the recording of a session, and deletes the oldest ones beyond the limit of the owner. */
  add(ownerId: string, sessionId: string, recording: NewRecording): Promise<void>;
  find(ownerId: string, sessionId: string): Promise<Recording | undefined>;
  /** Returns the audio as an Ogg file. */
  readAudio(ownerId: string, sessionId: string): Promise<Buffer | undefined>;
}

/** Removes what is old. */
export interface RetentionStore {
  /**
   * Removes the spans of conversations whose first span was received on a day before that of
   * `receivedBeforeMs`, and the text that a search finds their sessions by. Conversations, sessions, and
   * outcomes stay; a conversation knows when its spans were removed, and receives no others. Removes a
   * part in one transaction. Returns whether there can be more.
   */
  removeSpans(
    ownerId: string,
    removal: { receivedBeforeMs: number; atMs: number },
  ): Promise<boolean>;
}

/** The partitions of spans, by the day when the first span of their conversation was received. */
export interface SpanPartitions {
  /**
   * Creates the partitions of this day and the next ones. Without them, spans are stored, too, but
   * deleted row by row. Returns false if the role of the database may not create tables.
   */
  create(nowMs: number): Promise<boolean>;
  /** Drops the partitions of days before a time, after `removeSpans`. Returns how many it dropped. */
  drop(receivedBeforeMs: number): Promise<number>;
  /** Deletes a part of the spans that were not in a dropped partition. Returns whether there can be more. */
  deleteOutside(ownerId: string, receivedBeforeMs: number): Promise<boolean>;
}

/** Counts for the pages. */
export interface OverviewStore {
  count(ownerId: string): Promise<OwnerCounts>;
}

/** Production runs, and simulations that are not deleted. The interface has no endpoint for them. */
export interface RunStore {
  /** Lists runs by their newest session, newest first, and the number of all matches. */
  list(filter: RunFilter): Promise<{ runs: RunSummary[]; total: number }>;
  has(ref: RunRef): Promise<boolean>;
  /** Returns the runs next to a run in the list of all runs of its kind. */
  findNeighbors(ref: RunRef): Promise<RunNeighbors>;
  /** Returns the results of each run, all from one snapshot; undefined for an unknown run. */
  load(refs: readonly RunRef[]): Promise<(RunDetails | undefined)[]>;
  /**
   * Lists the stored sessions of a run: production newest first, a simulation by scenario, with failed
   * sessions of each scenario first.
   */
  listSessions(ref: RunRef, page: Page): Promise<{ sessions: Session[]; total: number }>;
  /** Lists the sessions of a scenario with these verdicts, by verdict and sample. */
  listSamples(
    ref: RunRef & { scenarioId: string },
    verdicts: readonly Verdict[],
    limit: number,
  ): Promise<Session[]>;
  /** Finds the session of a scenario with this number. */
  findSample(ref: RunRef & { scenarioId: string }, sample: number): Promise<Session | undefined>;
  /** Reads what the newest sessions of a run have in common. */
  readTraits(ref: RunRef, sessionsMax: number): Promise<RunTraits>;
  /** Returns the newest simulations of each of these agents by the name of the agent, newest first. */
  listSimulationsOfAgents(
    ownerId: string,
    agentNames: readonly string[],
    limitPerAgent: number,
  ): Promise<Map<string, SimulationOfAgent[]>>;
}

export interface SimulationStore {
  /** Adds a simulation and returns its id. */
  add(simulation: NewSimulation): Promise<string>;
  find(ownerId: string, id: string): Promise<SimulationPlan | undefined>;
  findState(ownerId: string, id: string): Promise<SimulationPlan['state'] | undefined>;
  /** Lists simulations, newest first. */
  list(ownerId: string, limit: number): Promise<SimulationPlan[]>;
  /** Lists the unfinished simulations of all owners, oldest first. */
  listRunning(): Promise<SimulationPlan[]>;
  /** Returns the API key of the agent's sandbox. Use it only to call that sandbox. */
  findApiKey(ownerId: string, id: string): Promise<string | undefined>;
  /** Lists the sessions that have ended, in no particular order. */
  listSessions(ownerId: string, id: string): Promise<Session[]>;
  /**
   * Adds a finished session and its jobs in one transaction. Repeating it changes nothing. Returns
   * false, and adds nothing, if the simulation does not exist, another one has a session with this id,
   * or another process has taken the lease.
   */
  addSession(session: NewSession, lease?: SimulationLease): Promise<boolean>;
  /**
   * Ends a simulation and deletes the API key. Returns false, and changes nothing, if it was not
   * running or another process has taken the lease.
   */
  end(
    ownerId: string,
    id: string,
    state: 'ended' | 'cancelled',
    lease?: SimulationLease,
  ): Promise<boolean>;
}

export interface EvalStore {
  /** Adds an eval, or replaces the one with the same id. */
  put(ownerId: string, definition: EvalDefinition): Promise<void>;
  list(ownerId: string): Promise<EvalDefinition[]>;
  /**
   * Counts the newest outcomes that are no errors, at most `limit` for each eval, and how many of them
   * passed, by the id of the eval. Outcomes that were seeded without an id belong to the eval with the
   * same name. An eval without outcomes is missing.
   */
  countRecentOutcomes(
    ownerId: string,
    evals: readonly { id: string; name: string }[],
    limit: number,
  ): Promise<Map<string, RecentOutcomes>>;
  /** Deletes an eval; returns false if there is none. The settings may still refer to it. */
  remove(ownerId: string, id: string): Promise<boolean>;
  getSettings(ownerId: string): Promise<Required<LiveSettings>>;
  /** Changes the settings that are present in `changes`. */
  updateSettings(ownerId: string, changes: LiveSettings): Promise<void>;
}

export interface DocumentStore {
  /** Adds a document with its secret, or replaces the one with the same id. */
  put(ownerId: string, document: NewDocument): Promise<void>;
  /** Lists up to `limit` documents in the order in which they were added. */
  list<Kind extends DocumentKind>(
    ownerId: string,
    kind: Kind,
    limit: number,
  ): Promise<Documents[Kind][]>;
  find<Kind extends DocumentKind>(
    ownerId: string,
    kind: Kind,
    id: string,
  ): Promise<Documents[Kind] | undefined>;
  /** Deletes a document and the reports about it; returns false if the document does not exist. */
  remove(ownerId: string, kind: DocumentKind, id: string): Promise<boolean>;
  /** Returns the API key of an agent's sandbox, if it has one. Use it only to call that sandbox. */
  findApiKey(ownerId: string, agentId: string): Promise<string | undefined>;
}

/** Reports about agents. They are deleted with their agent. */
export interface AgentReportStore {
  /** Adds a report, deletes the oldest of its agent and kind beyond the number to keep, and returns its id. */
  add(ownerId: string, report: NewAgentReport, keep: number): Promise<number>;
  /** Returns a page of the reports about an agent, newest first, and their number, from one snapshot. */
  list(
    ownerId: string,
    agentId: string,
    page: Page,
  ): Promise<{ reports: AgentReport[]; total: number }>;
  /**
   * Returns the report of each kind about each of these agents whose run ended last; of equal ones, the
   * one that was attached last.
   */
  listNewest(ownerId: string, agentIds: readonly string[]): Promise<AgentReport[]>;
  find(
    ownerId: string,
    agentId: string,
    id: number,
  ): Promise<(AgentReport & { report: object }) | undefined>;
}

/** The queue of scoring jobs. `jobs.ts` explains their states and leases. */
export interface JobStore {
  /** Leases up to `limit` due jobs to a worker; no other worker gets them during the lease. */
  take(worker: string, nowMs: number, leaseMs: number, limit: number): Promise<Job[]>;
  /** Extends the leases to `untilMs`. Skips jobs that the worker no longer holds. */
  renew(worker: string, jobs: readonly Job[], untilMs: number): Promise<void>;
  /**
   * Writes the outcome of a job. With the last job of a session, completes the session in the same
   * transaction. Returns false, and writes nothing, if the worker has lost the lease.
   */
  finish(worker: string, job: Job, outcome: Outcome, atMs: number): Promise<boolean>;
  /** Does the same for several jobs of one owner in one transaction: if it fails, none is finished. */
  finishAll(worker: string, finished: readonly FinishedJob[], atMs: number): Promise<boolean[]>;
  /** Returns a job to the queue; it can be taken again from `dueAtMs` on. */
  release(worker: string, job: Job, dueAtMs: number): Promise<void>;
  /**
   * Call on startup: releases the jobs of earlier processes, makes jobs that are due in the future
   * due now (an earlier process may have advanced its clock), and returns how many there were.
   */
  releaseAll(nowMs: number): Promise<number>;
  /** Counts unfinished jobs, and returns when the next becomes due or its lease expires. */
  getBacklog(): Promise<{ count: number; nextDueAtMs: number | undefined }>;
  /** Returns only the time, which is fast for any number of jobs; undefined if there is no job. */
  findNextDueAtMs(): Promise<number | undefined>;
}

export interface IngestLogStore {
  /** Adds entries and deletes the oldest ones beyond the limit. */
  add(ownerId: string, atMs: number, entries: readonly IngestLogEntry[]): Promise<void>;
  /** Lists entries, newest first. */
  list(ownerId: string, limit: number): Promise<(IngestLogEntry & { atMs: number })[]>;
  /** Returns the code of the newest entry about dropped spans, or else about ignored ones. */
  findNewestDropCode(ownerId: string): Promise<string | undefined>;
}
