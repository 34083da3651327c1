import { createAgentReportStore } from './agent-reports.ts';
import type { ConnectionCounts, Connections } from './connections.ts';
import { createConversationStore } from './conversations.ts';
import { createDocumentStore } from './documents.ts';
import { createEvalStore } from './evals.ts';
import { createFormResultStore } from './form-results.ts';
import { createIngestLogStore } from './ingest-log.ts';
import { createJobStore } from './jobs.ts';
import { createOverviewStore } from './overview.ts';
import { createOwnerStore } from './owners.ts';
import type { ReplicaStore } from './postgres/replicas.ts';
import type { SpanPartitions } from './postgres/span-partitions.ts';
import { createRecordingStore } from './recordings.ts';
import { createRetentionStore } from './retention.ts';
import { createReviewStore } from './reviews.ts';
import { createRunStore } from './runs.ts';
import { deleteOwnerData, insertSeedData, type SeedData } from './seed.ts';
import { createSessionStore } from './sessions.ts';
import { createSettingsStore } from './settings.ts';
import { createSimulationStore } from './simulations.ts';
import { createTurnBuilder } from '../turns/turn-builder.ts';

export type * from './records.ts';
export type * from './replicas.ts';
export type { OnSeedProgress } from './add-sessions.ts';
export type {
  AgentReport,
  AgentReportKind,
  AgentReportSummary,
  CountingReport,
  NewAgentReport,
} from './agent-reports.ts';
export type { WaitingConversation } from './conversations.ts';
export type { DocumentKind, Documents, NewDocument, StoredAgent } from './documents.ts';
export type { EvalStore, RecentOutcomes } from './evals.ts';
export type { Conversation } from './find-conversation.ts';
export type { StoredFormResult } from './form-results.ts';
export type { FinishedJob, Job, JobStore } from './jobs.ts';
export type { OwnerCounts } from './overview.ts';
export type { OwnerStore, StoredKey } from './owners.ts';
export type { CloseResult } from './queue-scoring.ts';
export type { CallSummary, NewRecording, Recording } from './recordings.ts';
export type { Review, ReviewedOutcome } from './reviews.ts';
export type { TimedSession } from './response-times.ts';
export type { EvalCounts, RunRef, RunSummary, ScenarioCounts } from './run-sums.ts';
export type { RunTraits } from './run-traits.ts';
export type {
  RunDetails,
  RunFilter,
  RunNeighbors,
  RunRefs,
  RunSums,
  SimulationOfAgent,
} from './runs.ts';
export type { SeedData } from './seed.ts';
export type { NewSimulation, SimulationPlan, TestedBuild } from './simulations.ts';
export type { ReplicaStore } from './postgres/replicas.ts';
export type { SimulationLeases } from './postgres/simulation-leases.ts';
export type { SpanPartitions } from './postgres/span-partitions.ts';

/** The location of the data of a store: a SQLite file, or a PostgreSQL database. */
export type StoreLocation =
  | {
      file: string;
      /** The file is deleted on shutdown, so commits need not survive a power failure. */
      isTemporary?: boolean;
    }
  | {
      /** URL of the database, with the password. Never log it. */
      databaseUrl: string;
    };

/** What a store needs besides connections. SQLite and PostgreSQL differ in it. */
export interface StoreDatabase {
  /** The partitions of spans; undefined for a file, which has none. */
  readonly spanPartitions: SpanPartitions | undefined;
  /** What several processes on one database share; undefined for a file, which only one uses. */
  readonly replicas: ReplicaStore | undefined;
  /**
   * Returns the value with this name, which all processes that use the store share. Sets it to `value` if
   * it is missing. Values of a file last until the store is closed.
   */
  shareValue(name: string, value: string): Promise<string>;
  /** Describes what happened to the file since it was opened: emptied, replaced, or moved away. */
  describeFileChange(): string | undefined;
  /** Resolves if a database answers and accepts changes. Rejects after at most 2 s otherwise. */
  ping(): Promise<void>;
  /**
   * Resolves if a database answers and accepts changes, and if the disk of a file accepts changes, too.
   * Rejects after at most 2 s otherwise.
   */
  checkWrites(): Promise<void>;
  /** Counts the connections to a database, and who waits for one; undefined for a file. */
  countConnections(): ConnectionCounts | undefined;
  close(): Promise<void>;
}

/**
 * Creates a store. This directory is the only access to persistent data, in a SQLite file or a
 * PostgreSQL database; no other directory contains SQL.
 *
 * All data belongs to an owner. Calls with an `ownerId` neither read nor change data of others; only
 * background work (idle closing, scoring, resuming simulations) reads across owners.
 */
export function createStore(connections: Connections, database: StoreDatabase) {
  const turnBuilder = createTurnBuilder();
  return {
    ...database,
    /** Builds the turns of conversations from their spans. */
    turnBuilder,
    async close(): Promise<void> {
      await turnBuilder.close();
      await database.close();
    },
    owners: createOwnerStore(connections),
    conversations: createConversationStore(connections, turnBuilder),
    sessions: createSessionStore(connections),
    simulations: createSimulationStore(connections),
    evals: createEvalStore(connections),
    settings: createSettingsStore(connections),
    documents: createDocumentStore(connections),
    agentReports: createAgentReportStore(connections),
    formResults: createFormResultStore(connections),
    jobs: createJobStore(connections),
    ingestLog: createIngestLogStore(connections),
    overview: createOverviewStore(connections),
    recordings: createRecordingStore(connections),
    reviews: createReviewStore(connections),
    runs: createRunStore(connections),
    retention: createRetentionStore(connections),
    /** Deletes all data of an owner except the owner itself and its keys. */
    deleteOwnerData: (ownerId: string): Promise<void> =>
      connections.writeAlone(ownerId, (db) => deleteOwnerData(db, ownerId, connections.dialect)),
    /**
     * Inserts the keys of seed data in one transaction, and then everything else in another. Returns
     * undefined on success. If a key belongs to another owner, changes nothing and returns its index.
     */
    insertSeedData: (seedData: SeedData): Promise<number | undefined> =>
      insertSeedData(connections, seedData),
  };
}

export type Store = ReturnType<typeof createStore>;
