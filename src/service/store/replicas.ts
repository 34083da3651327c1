import type { SharedRateLimiter, SharedRateLimiterOptions } from './postgres/rate-limit.ts';

/** What a rate limiter needs of the service. */
export type RateLimiterOptions = Omit<SharedRateLimiterOptions, 'pool'>;

/** What a process tells the other processes on the same database. */
export type ReplicaTopic = 'jobs' | 'simulations' | 'state';

/** A key with which a process was started. */
export interface ConfiguredKey {
  ownerId: string;
  keyDigest: string;
}

/** Options that must be the same on all replicas: the value of each, as text. */
export type ReplicaSettings = Readonly<Record<string, string>>;

/** A process on the database, and the keys and options with which it was started. */
export interface ReplicaMember {
  id: string;
  keys: readonly ConfiguredKey[];
  settings: ReplicaSettings;
}

/** What a replica learns when it joins the others. */
export interface JoinedReplicas {
  shared: SharedValue;
  /** Whether a running replica was started with other keys. */
  haveOthersOtherKeys: boolean;
  /** The settings of each running replica. */
  othersSettings: readonly ReplicaSettings[];
}

/** The state that all replicas share, and how often it was changed. */
export interface SharedValue {
  generation: number;
  /** JSON. */
  value: string;
}

/** The right to run a simulation, until it ends unless it is renewed. */
export interface SimulationLease {
  ownerId: string;
  /** The simulation. */
  id: string;
  /** Differs for each lease, so that only the latest holder can store sessions. */
  token: string;
}

/** Lets only one process at a time run a simulation. */
export interface SimulationLeases {
  /** Returns undefined if another process runs the simulation, or if it has ended. */
  take(ownerId: string, id: string): Promise<SimulationLease | undefined>;
  /**
   * Renews a lease, with the running sessions as JSON for other replicas. Returns `lost` if another
   * process has taken it, and `ended` if the simulation was canceled.
   */
  renew(lease: SimulationLease, running: string): Promise<'running' | 'ended' | 'lost'>;
  release(lease: SimulationLease): Promise<void>;
  /** Returns the running sessions that the process with the lease has reported. */
  findRunning(ownerId: string, id: string): Promise<string | undefined>;
  /** Returns whether a simulation is running or waits, on any replica. */
  isAnyActive(): Promise<boolean>;
}

/** How the replicas of a service on one database work together. */
export interface ReplicaStore {
  /** Publishes a topic to all replicas, at most ten times a second. A topic can get lost: poll, too. */
  publish(topic: ReplicaTopic): void;
  /** Calls back for every published topic, and for all topics when the connection was interrupted. */
  listen(listener: (topic: ReplicaTopic) => void): void;
  /**
   * Adds a replica and its keys, and returns the shared state. The first of all running replicas sets it
   * to `initial`. The keys of each running replica work on all of them; a configured key that none of
   * them has stops working. Also returns what differs between replicas.
   * @throws KeyTakenError if one of the keys belongs to another owner; nothing changes then.
   */
  join(member: ReplicaMember, initial: string): Promise<JoinedReplicas>;
  /**
   * Reports that a replica runs, and which generation of the state it has applied. Removes replicas that
   * have stopped without leaving, and their keys. Returns the state if it has changed since.
   */
  report(member: ReplicaMember, generation: number): Promise<SharedValue | undefined>;
  /** Removes a replica, and the keys that only it has. */
  leave(id: string): Promise<void>;
  /**
   * Changes the shared state; replicas do so one after the other. Without `isNew`, the generation stays,
   * so that other replicas don't apply the change.
   */
  change(change: (value: string) => string, options: { isNew: boolean }): Promise<SharedValue>;
  /** Returns whether all running replicas have applied a generation. */
  isApplied(generation: number): Promise<boolean>;
  readonly simulationLeases: SimulationLeases;
  /** Creates a rate limiter whose window all replicas share. */
  createRateLimiter(options: RateLimiterOptions): SharedRateLimiter;
  /** Keeps the last seed data of an owner, for a reset by any replica. */
  putSeed(ownerId: string, document: string): Promise<void>;
  findSeed(ownerId: string): Promise<string | undefined>;
  close(): Promise<void>;
}
