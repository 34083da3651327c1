import type { SharedRateLimiterOptions } from './postgres/rate-limit.ts';

/** What a rate limiter needs of the service. */
export type RateLimiterOptions = Omit<SharedRateLimiterOptions, 'pool'>;

/** What a process tells the other processes on the same database. */
export type ReplicaTopic = 'jobs' | 'simulations' | 'state';

/** A key that a process was started with. */
export interface ConfiguredKey {
  ownerId: string;
  keyDigest: string;
}

/** Options that must be the same on all replicas: the value of each, as text. */
export type ReplicaSettings = Readonly<Record<string, string>>;

/** A process on the database, and the keys and options that it was started with. */
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
